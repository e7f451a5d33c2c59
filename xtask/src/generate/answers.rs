//! `crates/apiserver/tests/data/builtin/answers.json`: what a real API server answers to the requests that stand beside it.
//!
//! Each request is a file: `path` and `given` are posted as a dry run. With `old`, that is created first, `given` is put
//! in its place as a dry run, and then it is deleted. With `as`, what is given is created, read from that path as well, and
//! deleted. What differs from run to run is replaced by fixed words.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use model::{Map, Value, json};

use super::committed::Check;
use super::server::Server;

/// Where the server is and what to do with what it says.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    check: Check,
}

/// Asks all that is to be asked and writes the answers, or compares them.
pub(crate) fn run(args: &Args) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/apiserver/tests/data/builtin");
    let mut answers = BTreeMap::new();
    let mut failures = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("failed to read {}", folder.display()))? {
        let path = entry?.path();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name == "answers" {
            continue;
        }
        let case =
            json::parse(&std::fs::read(&path)?).with_context(|| format!("{} is not JSON", path.display()))?;
        match ask(args, &case) {
            Ok(answer) => drop(answers.insert(name, answer)),
            Err(error) => failures.push(format!("{name}: {error:#}")),
        }
    }
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    let mut text = String::from("{");
    for (name, answer) in &answers {
        text.push_str(if text.len() == 1 { "\n" } else { ",\n" });
        text.push_str(&format!(
            "{}:{}",
            json::to_string(&Value::str(name)),
            json::to_string(answer)
        ));
    }
    text.push_str("\n}\n");
    args.check.settle(
        "crates/apiserver/tests/data/builtin/answers.json",
        &text,
        "answers",
    )
}

fn ask(args: &Args, case: &Value) -> Result<Value> {
    let (path, given) = (
        case.str_at(&["path"]),
        case.get("given").context("nothing is given")?,
    );
    let name = given.str_at(&["metadata", "name"]);
    if let Some(other) = case.get("as").and_then(Value::as_str) {
        kubectl(args, &["create", "--raw", path, "-f", "-"], given)?;
        let item = format!("{path}/{name}");
        let result = read_both(args, &item, &format!("{other}/{name}"), given);
        kubectl(args, &["delete", "--raw", &item], &Value::Null)?;
        wait_until_gone(args, &item)?;
        return result;
    }
    let Some(old) = case.get("old") else {
        let strict = if case.get("strict").is_some() {
            "&fieldValidation=Strict"
        } else {
            ""
        };
        return Ok(
            match kubectl(
                args,
                &[
                    "create",
                    "--raw",
                    &format!("{path}?dryRun=All{strict}"),
                    "-f",
                    "-",
                ],
                given,
            ) {
                Ok(mut answer) => {
                    forget_requester(&mut answer);
                    Mask::of(&answer, given).apply(&mut answer);
                    Map::from_iter([("answer", answer)]).into()
                }
                Err(error) => Map::from_iter([("error", server_message(&error)?)]).into(),
            },
        );
    };
    kubectl(args, &["create", "--raw", path, "-f", "-"], old)?;
    let item = format!("{path}/{name}");
    let result = replace(args, &item, case.str_at(&["subresource"]), given, old);
    kubectl(args, &["delete", "--raw", &item], &Value::Null)?;
    wait_until_gone(args, &item)?;
    result
}

/// Puts `given` in place of what is at `item`, again if a controller was quicker.
fn replace(args: &Args, item: &str, subresource: &str, given: &Value, asked: &Value) -> Result<Value> {
    let target = match subresource {
        "" => format!("{item}?dryRun=All"),
        subresource => format!("{item}/{subresource}?dryRun=All"),
    };
    for _ in 0..20 {
        let mut old = kubectl(args, &["get", "--raw", item], &Value::Null)?;
        let mut new = given.clone();
        new.set_at(
            &["metadata", "resourceVersion"],
            old.str_at(&["metadata", "resourceVersion"]),
        );
        match kubectl(args, &["replace", "--raw", &target, "-f", "-"], &new) {
            Ok(mut answer) => {
                let mask = Mask::of(&old, asked);
                mask.apply(&mut old);
                mask.apply(&mut answer);
                return Ok(Map::from_iter([("old", old), ("answer", answer)]).into());
            }
            Err(error) if error.to_string().contains("(Conflict)") => {}
            Err(error) => return Err(error),
        }
    }
    bail!("{item} changes all the time")
}

/// One object from two paths, in the same state.
fn read_both(args: &Args, item: &str, other: &str, given: &Value) -> Result<Value> {
    for _ in 0..20 {
        let mut old = kubectl(args, &["get", "--raw", item], &Value::Null)?;
        let mut answer = kubectl(args, &["get", "--raw", other], &Value::Null)?;
        let version = ["metadata", "resourceVersion"];
        if old.at(&version) == answer.at(&version) {
            let mask = Mask::of(&old, given);
            mask.apply(&mut old);
            mask.apply(&mut answer);
            return Ok(Map::from_iter([("old", old), ("answer", answer)]).into());
        }
    }
    bail!("{item} changes all the time")
}

/// Namespaces take a moment to go.
fn wait_until_gone(args: &Args, item: &str) -> Result<()> {
    for _ in 0..200 {
        match kubectl(args, &["get", "--raw", item], &Value::Null) {
            Err(error) if error.to_string().contains("(NotFound)") => return Ok(()),
            _ => std::thread::sleep(std::time::Duration::from_millis(100)),
        }
    }
    bail!("{item} does not go away")
}

fn kubectl(args: &Args, words: &[&str], input: &Value) -> Result<Value> {
    let mut command = args.server.kubectl();
    command
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().context("failed to run kubectl")?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin
            .write_all(json::to_string(input).as_bytes())
            .context("failed to write to kubectl")?;
    }
    let output = child.wait_with_output().context("failed to run kubectl")?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    json::parse(&output.stdout).context("the answer is not JSON")
}

/// The server's message, without what kubectl puts before it.
fn server_message(error: &anyhow::Error) -> Result<String> {
    let text = error.to_string();
    let message = text.strip_prefix("Error from server (BadRequest): ");
    Ok(message
        .with_context(|| format!("not a bad request: {text}"))?
        .to_owned())
}

/// Requests for certificates tell who sent them.
fn forget_requester(answer: &mut Value) {
    if answer.str_at(&["kind"]) == "CertificateSigningRequest" {
        for key in ["username", "uid", "groups", "extra"] {
            answer.remove_at(&["spec", key]);
        }
    }
}

/// What differs from run to run, and what stands in its place.
struct Mask {
    texts: Vec<(String, String)>,
    numbers: Vec<(i64, i64)>,
}

impl Mask {
    /// Learns from a `stored` object that was asked for as `given`.
    fn of(stored: &Value, given: &Value) -> Self {
        let mut mask = Mask {
            texts: Vec::new(),
            numbers: Vec::new(),
        };
        for (key, word) in [("uid", "UID"), ("creationTimestamp", "TIME")] {
            mask.texts
                .push((stored.str_at(&["metadata", key]).to_owned(), word.to_owned()));
        }
        let address = stored.str_at(&["spec", "clusterIP"]);
        if given.at(&["spec", "clusterIP"]).is_none() && !address.is_empty() {
            mask.texts.push((address.to_owned(), "10.0.0.1".to_owned()));
        }
        let ports = stored
            .list_at(&["spec", "ports"])
            .iter()
            .zip(given.list_at(&["spec", "ports"]));
        let taken = ports
            .filter(|(_, given)| given.get("nodePort").is_none())
            .filter_map(|(port, _)| port.get("nodePort"));
        for number in taken
            .chain(stored.at(&["spec", "healthCheckNodePort"]))
            .filter_map(Value::as_i64)
        {
            mask.numbers.push((number, 30001 + mask.numbers.len() as i64));
        }
        mask
    }

    fn apply(&self, value: &mut Value) {
        match value {
            Value::Str(text) => {
                if let Some((_, word)) = self
                    .texts
                    .iter()
                    .find(|(known, _)| !known.is_empty() && text == known)
                {
                    *value = Value::str(word);
                }
            }
            Value::Int(number) => {
                if let Some((_, other)) = self.numbers.iter().find(|(known, _)| known == number) {
                    *number = *other;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply(item)),
            Value::Object(map) => {
                map.retain(|key, _| !matches!(key, "managedFields" | "resourceVersion"));
                for (key, value) in map.iter_mut() {
                    // These are set by the server, perhaps a second after the object was made.
                    if matches!(key, "lastTransitionTime" | "lastPhaseTransitionTime")
                        && value.as_str().is_some()
                    {
                        *value = Value::str("TIME");
                    }
                    self.apply(value);
                }
            }
            _ => {}
        }
    }
}
