//! The `sluice` program: one subcommand, one file in `commands/`.

/// In place of the macros of the standard library, which panic where nobody reads any more: `sluice get ks | head` is no failure.
macro_rules! print {
    ($($text:tt)*) => { $crate::commands::printed::out(format_args!($($text)*)) };
}
macro_rules! println {
    () => { $crate::commands::printed::out(format_args!("\n")) };
    ($($text:tt)*) => { $crate::commands::printed::out(format_args!("{}\n", format_args!($($text)*))) };
}
macro_rules! eprint {
    ($($text:tt)*) => { $crate::commands::printed::error(format_args!($($text)*)) };
}
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::commands::printed::error(format_args!("{}\n", format_args!($($text)*))) };
}

mod commands;

use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};

// glibc keeps what was freed; a server that lists a large cluster once would stay large.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(
    name = "sluice",
    version,
    about = "Continuous delivery for Kubernetes",
    arg_required_else_help = true,
    // As with the programs that it stands in for, the last of equal flags counts, for all commands.
    args_override_self = true
)]
#[expect(clippy::large_enum_variant, reason = "a run has one command")]
enum Command {
    Up(commands::up::Args),
    Apiserver(commands::apiserver::Args),
    Controller(commands::controller::Args),
    #[command(subcommand)]
    Kustomize(commands::kustomize::Kustomize),
    #[command(subcommand)]
    Helm(commands::helm::Helm),
    #[command(subcommand)]
    Push(commands::artifact::Push),
    #[command(subcommand)]
    Pull(commands::artifact::Pull),
    #[command(subcommand)]
    Tag(commands::artifact::Tag),
    #[command(subcommand)]
    List(commands::artifact::List),
    #[command(subcommand)]
    Build(commands::build::Build),
    #[command(subcommand)]
    Diff(commands::diff::Diff),
    #[command(subcommand)]
    Plan(commands::plan::Plan),
    /// Show objects and how they are
    #[command(subcommand)]
    Get(commands::objects::Get),
    /// Print objects as one would write them
    #[command(subcommand)]
    Export(commands::objects::Export),
    /// Have controllers look at an object now
    #[command(subcommand)]
    Reconcile(commands::objects::Reconcile),
    /// Have controllers leave objects alone
    #[command(subcommand)]
    Suspend(commands::objects::Suspend),
    /// Have controllers work on suspended objects again
    #[command(subcommand)]
    Resume(commands::objects::Resume),
    #[command(subcommand)]
    History(commands::release::History),
    #[command(subcommand)]
    Pin(commands::pin::Pin),
    #[command(subcommand)]
    Rollback(commands::pin::Rollback),
    #[command(subcommand)]
    Unpin(commands::pin::Unpin),
    /// Delete an object
    #[command(subcommand)]
    Delete(commands::objects::Delete),
    #[command(subcommand)]
    Create(commands::create::Create),
    #[command(subcommand)]
    Tree(commands::tree::Tree),
    Trace(commands::trace::Args),
    Events(commands::events::Args),
    Stats(commands::stats::Args),
    Logs(commands::logs::Args),
    #[command(subcommand)]
    Debug(commands::debug::Debug),
    Envsubst(commands::envsubst::Args),
    Migrate(commands::migrate::Args),
    Install(Box<commands::install::Args>),
    Uninstall(commands::uninstall::Args),
    Check(commands::installation::Check),
    Version(commands::installation::Version),
    Completion(commands::completion::Args),
    Man(commands::man::Args),
}

/// What everything runs on. Threads for work that blocks (files, builds) end soon after it: each has a heap of its own, which would stay with
/// them. Their number is limited where the work is given out: some of them wait for others.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_keep_alive(Duration::from_secs(1))
        .build()
}

/// The commands that are done sooner than all of [`Command`] is described to the parser, in the same words.
#[derive(Parser)]
#[command(name = "sluice", version, args_override_self = true)]
enum Quick {
    #[command(subcommand)]
    Helm(commands::helm::Helm),
}

fn main() -> ExitCode {
    use_plain_pages();
    let arguments = commands::controller::by_name(std::env::args_os());
    if arguments.get(1).is_some_and(|name| name == "helm") {
        let parser = commands::helm::with_flags_as_in_go(Quick::command());
        let parsed = Quick::from_arg_matches(&parser.get_matches_from(arguments));
        let Quick::Helm(what) = parsed.unwrap_or_else(|error| error.exit());
        return commands::helm::run(&what).unwrap_or_else(|error| failed(&error));
    }
    let command = Command::parse_from(arguments);
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: failed to start the runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let done = runtime.block_on(async {
        match command {
            Command::Up(args) => commands::up::run(args).await,
            Command::Apiserver(args) => commands::apiserver::run(args).await,
            Command::Controller(args) => commands::controller::run(args).await,
            Command::Kustomize(what) => commands::kustomize::run(what).await,
            Command::Helm(what) => tokio::task::spawn_blocking(move || commands::helm::run(&what)).await?,
            Command::Push(what) => commands::artifact::push(what).await,
            Command::Pull(what) => commands::artifact::pull(what).await,
            Command::Tag(what) => commands::artifact::tag(what).await,
            Command::List(what) => commands::artifact::list(what).await,
            Command::Build(what) => commands::build::run(what).await,
            Command::Diff(what) => commands::diff::run(what).await,
            Command::Plan(what) => commands::plan::run(what).await,
            Command::Get(what) => commands::objects::get(what).await,
            Command::Export(what) => commands::objects::export(what).await,
            Command::Reconcile(what) => commands::objects::reconcile(what).await,
            Command::Suspend(what) => commands::objects::suspend(what).await,
            Command::Resume(what) => commands::objects::resume(what).await,
            Command::History(what) => commands::release::history(what).await,
            Command::Pin(what) => commands::pin::pin(what).await,
            Command::Rollback(what) => commands::pin::rollback(what).await,
            Command::Unpin(what) => commands::pin::unpin(what).await,
            Command::Delete(what) => commands::objects::delete(what).await,
            Command::Create(what) => commands::create::run(what).await,
            Command::Tree(what) => commands::tree::run(what).await,
            Command::Trace(args) => commands::trace::run(args).await,
            Command::Events(args) => commands::events::run(args).await,
            Command::Stats(args) => commands::stats::run(args).await,
            Command::Logs(args) => commands::logs::run(args).await,
            Command::Debug(what) => commands::debug::run(what).await,
            Command::Envsubst(args) => commands::envsubst::run(&args),
            Command::Migrate(args) => commands::migrate::run(args).await,
            Command::Install(args) => commands::install::run(*args).await,
            Command::Uninstall(args) => commands::uninstall::run(args).await,
            Command::Check(args) => commands::installation::check(args).await,
            Command::Version(args) => commands::installation::version(args).await,
            Command::Completion(args) => Ok(commands::completion::run(&args, Command::command())),
            Command::Man(args) => commands::man::run(&args, Command::command()),
        }
    });
    // Blocking work that no one waits for, such as a build that was given up, ends with the process.
    runtime.shutdown_background();
    done.unwrap_or_else(|error| failed(&error))
}

fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    commands::failure::code(error)
}

/// What is freed goes back to the system page by page. Where the system makes huge pages of memory by itself, a few bytes that are
/// still needed keep two megabytes each: a controller had three times the memory for no measurable gain.
fn use_plain_pages() {
    // A kernel without huge pages has nothing to turn off.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of flags that several commands have is no description of the commands.
    #[test]
    fn each_command_is_described_in_words_of_its_own() {
        fn check(command: &clap::Command, way: &str) {
            let mut seen = std::collections::BTreeSet::new();
            for inner in command
                .get_subcommands()
                .filter(|inner| inner.get_name() != "help")
            {
                let way = format!("{way} {}", inner.get_name());
                let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
                assert!(!about.is_empty(), "{way} is not described");
                assert!(!about.contains("looked for"), "{way}: {about}");
                assert!(
                    seen.insert(about.clone()),
                    "{way} is described as another: {about}"
                );
                check(inner, &way);
            }
        }
        check(&Command::command(), "sluice");
    }

    #[test]
    fn no_flag_of_a_command_hides_another() {
        Command::command().debug_assert();
    }
}
