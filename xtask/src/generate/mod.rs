//! Files that are made from something else and committed.

mod answers;
mod committed;
mod crds;
mod field_specs;
mod go_types;
mod internal_types;
mod merge_lists;
mod protobuf;
mod rbac;
mod regexps;
mod resources;
mod schema;
mod server;
mod swagger;
mod yaml_text;

use clap::Subcommand;

/// What to make.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// What a real API server answers to the requests of a test
    Answers(answers::Args),
    /// The CustomResourceDefinitions in `deploy/crds`, from `crates/api`
    Crds(crds::Args),
    /// Where kustomize looks for the fields that it changes, from its Go sources
    FieldSpecs(field_specs::Args),
    /// Which lists kustomize merges by which keys, from its Go sources
    MergeLists(merge_lists::Args),
    /// The field numbers of Kubernetes' own messages, from its Go modules
    Protobuf(protobuf::Args),
    /// The roles and bindings of a new cluster, from a real API server
    Rbac(rbac::Args),
    /// What Go says to regular expressions, for the tests of ours
    Regexps(regexps::Args),
    /// The resources of Kubernetes' own groups, from a real API server's discovery
    Resources(resources::Args),
    /// The table of Kubernetes' own types, from a real API server's OpenAPI
    Schema(schema::Args),
    /// What Go's JSON knows of these types besides, from the Go sources
    GoTypes(go_types::Args),
    /// The API server's own types of what its messages show, from the Go sources
    InternalTypes(internal_types::Args),
}

/// Makes the file that was asked for.
pub(crate) fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Answers(args) => answers::run(&args),
        Command::Crds(args) => crds::run(&args),
        Command::FieldSpecs(args) => field_specs::run(&args),
        Command::MergeLists(args) => merge_lists::run(&args),
        Command::Protobuf(args) => protobuf::run(&args),
        Command::Rbac(args) => rbac::run(&args),
        Command::Regexps(args) => regexps::run(&args),
        Command::Resources(args) => resources::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::GoTypes(args) => go_types::run(&args),
        Command::InternalTypes(args) => internal_types::run(&args),
    }
}
