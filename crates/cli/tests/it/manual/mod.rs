//! `sluice completion` and `sluice man`.

use std::process::{Command, Output};

fn sluice(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn shells_get_scripts_that_know_commands_and_flags() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let output = sluice(&["completion", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success());
        for word in ["reconcile", "kustomization", "with-source"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert!(!sluice(&["completion", "cmd"]).status.success());
}

#[test]
fn bash_completes_words() {
    let Some(bash) = testkit::program::find("bash") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("sluice.bash");
    std::fs::write(&script, sluice(&["completion", "bash"]).stdout).unwrap();
    let completed = |words: &str, number: usize| {
        let last = words.split(' ').nth(number).unwrap();
        let before = words.split(' ').nth(number - 1).unwrap();
        let asked = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD={number}; _sluice sluice '{last}' '{before}'; echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let output = Command::new(&bash)
            .args(["--norc", "-c", &asked])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(completed("sluice recon", 1), "reconcile");
    assert_eq!(completed("sluice tree kust", 2), "kustomization");
    assert_eq!(
        completed("sluice reconcile kustomization --with-s", 3),
        "--with-source"
    );
}

#[test]
fn each_command_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let output = sluice(&["man", pages.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    for page in [
        "sluice.1",
        "sluice-get-sources-git.1",
        "sluice-create-secret-tls.1",
        "sluice-trace.1",
    ] {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(".TH sluice"), "{page}");
    }
    let text = std::fs::read_to_string(pages.join("sluice-create-kustomization.1")).unwrap();
    assert!(text.contains("decryption\\-provider"), "{text}");
    // Nothing can be written where a file is.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(!sluice(&["man", file.to_str().unwrap()]).status.success());
}
