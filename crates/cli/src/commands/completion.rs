//! `sluice completion`: what shells need to complete the words of the command line.

use std::process::ExitCode;

/// Print a script that completes commands and flags in a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  bash:        source <(sluice completion bash)
  zsh:         sluice completion zsh > \"${fpath[1]}/_sluice\"
  fish:        sluice completion fish > ~/.config/fish/completions/sluice.fish
  powershell:  sluice completion powershell | Out-String | Invoke-Expression")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

pub(crate) fn run(args: &Args, mut command: clap::Command) -> ExitCode {
    use clap_complete::Shell as Known;
    let shell = match args.shell {
        Shell::Bash => Known::Bash,
        Shell::Zsh => Known::Zsh,
        Shell::Fish => Known::Fish,
        Shell::Powershell => Known::PowerShell,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "sluice", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}
