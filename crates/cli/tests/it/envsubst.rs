//! `sluice envsubst`, compared with `flux envsubst` where that is installed.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

const SLUICE: &str = env!("CARGO_BIN_EXE_sluice");

fn run(program: &str, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(program)
        .arg("envsubst")
        .args(arguments)
        .env("REGION", "eu-central-1")
        .env("EMPTY", "")
        .env("LINES", "one\ntwo")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A program that fails does not read the rest.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

const INPUTS: &[&str] = &[
    "",
    "plain\n",
    "no end",
    "region: ${REGION}\r\nnext: $REGION $${REGION}\n\n",
    "${EMPTY:-default} ${UNSET:=other} ${REGION:0:2} ${REGION^^} ${REGION/eu/us} ${#REGION}\n",
    "first\n${UNSET}\nlast\n",
    "${LINES}\n",
    "${REGION\n}\n",
    "a\n${REGION-x}\n",
    "${EMPTY}\n${UNSET^^}\n",
];

#[test]
fn lines_are_substituted_as_by_flux() {
    let flux = testkit::program::find("flux");
    for input in INPUTS {
        for arguments in [&[][..], &["--strict"][..]] {
            let ours = run(SLUICE, arguments, input.as_bytes());
            if let Some(flux) = &flux {
                let theirs = run(flux.to_str().unwrap(), arguments, input.as_bytes());
                assert_eq!(
                    theirs.status.success(),
                    ours.status.success(),
                    "{input:?} {ours:?}"
                );
                assert_eq!(theirs.stdout, ours.stdout, "{input:?}");
            }
        }
    }
}

#[test]
fn the_environment_gives_values() {
    let output = run(
        SLUICE,
        &[],
        b"a: ${REGION}\r\nb: ${UNSET:=x} ${UNSET} $${c}\n${LINES}",
    );
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "a: eu-central-1\nb: x  ${c}\none\ntwo\n"
    );
}

#[test]
fn strict_mode_names_the_line_and_the_variable() {
    let output = run(SLUICE, &["--strict"], b"one\n${UNSET}\nthree\n");
    assert!(!output.status.success());
    assert_eq!(output.stdout, b"one\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("line 2: variable not set (strict mode): \"UNSET\""),
        "{said}"
    );
}

/// flux ends without an error at a line of 64 KiB, and drops the rest.
#[test]
fn long_lines_are_kept() {
    let input = format!("{}${{REGION}}\nlast\n", "x".repeat(1 << 17));
    let output = run(SLUICE, &[], input.as_bytes());
    assert!(output.status.success());
    assert_eq!(
        output.stdout,
        input.replace("${REGION}", "eu-central-1").as_bytes()
    );
}
