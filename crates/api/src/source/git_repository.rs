//! GitRepository: files of a Git repository at a branch, tag, version or commit.

use model::Artifact;

use super::{CATEGORIES, GROUP};
use crate::{
    AccessFrom, Column, Condition, Definition, Duration, Fields, LocalObjectReference, Names, Object,
    ReadError, Spec,
};

/// Files of a Git repository.
pub type GitRepository = Object<GitRepositorySpec>;

record! {
    /// Which repository to fetch, and what of it.
    GitRepositorySpec {
        /// The address of the repository: http, https or ssh.
        required url: String { .pattern("^(http|https|ssh)://.*$") }
        /// A Secret in the same namespace with what the repository asks for: `username` and `password` or
        /// `bearerToken` over HTTPS, `identity` and `known_hosts` over SSH; `ca.crt`, `tls.crt` and `tls.key` for TLS.
        optional secret_ref: Option<LocalObjectReference> {}
        /// Where credentials come from: `generic` is the Secret, the others use the identity of the workload or of
        /// the GitHub App. If not set, it is `generic`.
        optional provider: Option<GitProvider> {}
        /// The ServiceAccount whose identity is used, for the providers `azure` and `aws`.
        optional service_account_name: Option<String> {}
        /// How often the repository is asked for changes.
        required interval: Duration {}
        /// How long one Git operation may take.
        optional timeout: Option<Duration> { .without_hours().default_to("60s") }
        /// What to check out. If not set, the branch `master`.
        optional r#ref as "ref": Option<GitReference> {}
        /// Whose signatures are accepted.
        optional verify: Option<GitVerification> {}
        /// What to leave out of the artifact, as the lines of a `.sourceignore` file.
        optional ignore: Option<String> {}
        /// Stops fetching until it is false again. The last artifact stays served.
        optional suspend: bool {}
        /// Fetches the submodules too, with the same credentials.
        optional recurse_submodules: bool {}
        /// Other GitRepositories of the namespace whose files are copied into the artifact.
        optional include: Vec<Include> {}
        /// The only directories to check out.
        optional sparse_checkout: Vec<String> {}
        /// A Secret with the address of an HTTP or SOCKS5 proxy, and `username` and `password` for it.
        optional proxy_secret_ref: Option<LocalObjectReference> {}
        /// From which namespaces this may be referred to. It had no effect.
        older access_from: Option<AccessFrom> {}
        /// Which Git library to use. There is only one now: it has no effect.
        older git_implementation: Option<GitImplementation> {}
    }
    rules {
        "!has(self.serviceAccountName) || (has(self.provider) && (self.provider == 'azure' || self.provider == 'aws'))"
            => "serviceAccountName can only be set when provider is 'azure' or 'aws'",
    }
}

choice! {
    /// Who gives the credentials for a Git repository.
    GitProvider { Generic = "generic", Aws = "aws", Azure = "azure", GitHub = "github" }
}

choice! {
    /// Which Git library an older version used.
    GitImplementation { GoGit = "go-git", Libgit2 = "libgit2" }
}

record! {
    /// What to check out. The first that is set of commit, name, tag, semver and branch counts; a commit is looked for
    /// on the branch, if one is set.
    GitReference {
        /// A branch.
        optional branch: Option<String> {}
        /// A tag; it goes before semver and the branch.
        optional tag: Option<String> {}
        /// A range of versions; the newest tag in it is taken. It goes before the branch.
        optional semver: Option<String> {}
        /// The full name of a reference, such as `refs/pull/420/head`. It goes before the branch, the tag and semver.
        optional name: Option<String> {}
        /// The hash of a commit. It goes before all others.
        optional commit: Option<String> {}
    }
}

record! {
    /// Which signatures to check.
    GitVerification {
        /// What must be signed: the commit (`HEAD`), the tag, or both.
        optional mode: Option<GitVerificationMode> { .default_to("HEAD") }
        /// A Secret with the public keys of those whose signatures are accepted.
        needed secret_ref: LocalObjectReference {}
    }
}

choice! {
    /// What of a Git repository must be signed.
    GitVerificationMode { LowerHead = "head", Head = "HEAD", Tag = "Tag", TagAndHead = "TagAndHEAD" }
}

record! {
    /// Files of another GitRepository to copy in.
    Include {
        /// The other GitRepository.
        required repository: LocalObjectReference {}
        /// The path in the other repository. If not set, all of it.
        optional from_path: Option<String> {}
        /// The path to copy to. If not set, the name of the other GitRepository.
        optional to_path: Option<String> {}
    }
}

record! {
    /// What was fetched last.
    GitRepositoryStatus {
        /// The generation of the object that was last dealt with.
        optional observed_generation: Option<i64> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// The packed files of the last revision that was fetched.
        #[serde(deserialize_with = "crate::artifact::lenient")]
        optional artifact: Option<Artifact> {}
        /// The artifacts that were included in this one.
        #[serde(deserialize_with = "crate::artifact::lenient")]
        optional included_artifacts: Vec<Artifact> {}
        /// The ignore rules that the artifact was made with.
        optional observed_ignore: Option<String> {}
        /// Whether submodules are in the artifact.
        optional observed_recurse_submodules: bool {}
        /// What was included in the artifact.
        optional observed_include: Vec<Include> {}
        /// The only directories that were checked out.
        optional observed_sparse_checkout: Vec<String> {}
        /// What was verified of the last revision.
        optional source_verification_mode: Option<GitVerificationMode> { .without("enum") }
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
    }
}

reconcile_status!(GitRepositoryStatus);

impl Spec for GitRepositorySpec {
    type Status = GitRepositoryStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1",
        kind: "GitRepository",
        plural: "gitrepositories",
        short: &["gitrepo"],
    };

    fn definition() -> Definition {
        Definition::of::<Self>(
            "The files of a Git repository, fetched again and again.",
            CATEGORIES,
        )
        .unobserved_at_first()
        .older(&["v1beta1", "v1beta2"])
        .columns([
            Column::new("URL", ".spec.url"),
            Column::AGE,
            Column::READY,
            Column::STATUS,
        ])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
