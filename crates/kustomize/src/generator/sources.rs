//! Where the content of ConfigMaps and Secrets comes from.

use std::collections::BTreeMap;

use crate::config::GeneratorArgs;
use crate::problem::{At, Problem};
use crate::tree::path;

/// Reads the files that a generator names.
pub(crate) trait FileLoader {
    /// The content of a file, whose path is relative to the kustomization.
    fn load(&self, path: &str) -> Result<Vec<u8>, String>;
}

/// The keys and their content, from environment files, literals and files, and all that is wrong with them. What is in them
/// is not told: it may be a secret.
pub(crate) fn pairs(args: &GeneratorArgs, files: &dyn FileLoader) -> (Pairs, Vec<Problem>) {
    let mut found = Found {
        args,
        pairs: BTreeMap::new(),
        problems: Vec::new(),
    };
    for (index, file) in args.envs.iter().enumerate() {
        match files.load(file) {
            Ok(content) => found.add_env(file, &content),
            Err(problem) => found.refuse(
                At::item("envs", index),
                format!("env source file {file}: {problem}"),
            ),
        }
    }
    for (index, literal) in args.literals.iter().enumerate() {
        let pair = parse_literal(literal).map(|(key, value)| (key.to_owned(), value.as_bytes().to_vec()));
        let pair = pair.map_err(|problem| format!("literal source number {}: {problem}", index + 1));
        found.add(|| At::item("literals", index), pair);
    }
    for (index, source) in args.files.iter().enumerate() {
        let read = parse_file(source).and_then(|(key, file)| Ok((key.to_owned(), files.load(file)?)));
        let read = read.map_err(|problem| format!("file source {source}: {problem}"));
        found.add(|| At::item("files", index), read);
    }
    (found.pairs, found.problems)
}

/// Contents by their keys.
pub(crate) type Pairs = BTreeMap<String, Vec<u8>>;

struct Found<'a> {
    args: &'a GeneratorArgs,
    pairs: Pairs,
    problems: Vec<Problem>,
}

impl Found<'_> {
    fn refuse(&mut self, at: At, message: String) {
        self.problems
            .push(Problem::new(at, message).after("loading KV pairs: "));
    }

    fn add(&mut self, at: impl Fn() -> At, pair: Result<(String, Vec<u8>), String>) {
        match pair {
            Ok((key, _)) if self.pairs.contains_key(&key) => {
                let message = format!("configmap {} illegally repeats the key `{key}`", self.args.name);
                self.refuse(at(), message);
            }
            Ok((key, content)) => drop(self.pairs.insert(key, content)),
            Err(problem) => self.refuse(at(), problem),
        }
    }

    /// Adds the lines of an environment file.
    fn add_env(&mut self, file: &str, content: &[u8]) {
        for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
            let Some(pair) = env_line(line, number).transpose() else {
                continue;
            };
            let pair = pair.map_err(|problem| format!("env source file {file}: {problem}"));
            self.add(|| At::File(file.to_owned(), Some(number + 1)), pair);
        }
    }
}

/// A line of an environment file: nothing, a comment, or a key with or without a value.
fn env_line(line: &[u8], number: usize) -> Result<Option<(String, Vec<u8>)>, String> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let Ok(text) = std::str::from_utf8(line) else {
        return Err(format!("line {} has invalid utf8 bytes", number + 1));
    };
    let text = if number == 0 {
        text.strip_prefix('\u{feff}').unwrap_or(text)
    } else {
        text
    };
    let text = text.trim_start();
    if text.is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    if key.is_empty() {
        return Ok(None);
    }
    Ok(Some((key.to_owned(), value.as_bytes().to_vec())))
}

/// `key=value`; quotes around the whole value are taken off.
fn parse_literal(source: &str) -> Result<(&str, &str), String> {
    match source.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key, without_quotes(value))),
        _ => Err("invalid literal source, expected key=value".to_owned()),
    }
}

fn without_quotes(text: &str) -> &str {
    for quote in ['"', '\''] {
        if text.len() >= 2
            && let Some(inner) = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote))
        {
            return inner;
        }
    }
    text
}

/// `path` or `key=path`.
fn parse_file(source: &str) -> Result<(&str, &str), String> {
    match source.split('=').collect::<Vec<_>>().as_slice() {
        [file] => Ok((path::base(file), file)),
        ["", file] => Err(format!(
            "missing key name for file path {file:?} in source {source:?}"
        )),
        [key, ""] => Err(format!(
            "missing file path for key name {key:?} in source {source:?}"
        )),
        [key, file] => Ok((key, file)),
        _ => Err(format!("source {source:?} key name or file path contains '='")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_lose_the_quotes_around_them() {
        assert_eq!(parse_literal("a='x y'"), Ok(("a", "x y")));
        assert_eq!(parse_literal("a=\"x"), Ok(("a", "\"x")));
        assert_eq!(parse_literal("a=b=c"), Ok(("a", "b=c")));
        assert!(parse_literal("=x").is_err() && parse_literal("x").is_err());
    }

    #[test]
    fn files_are_named_by_their_key_or_themselves() {
        assert_eq!(parse_file("a/b.txt"), Ok(("b.txt", "a/b.txt")));
        assert_eq!(parse_file("k=a/b.txt"), Ok(("k", "a/b.txt")));
        assert!(parse_file("=a").is_err() && parse_file("a=").is_err() && parse_file("a=b=c").is_err());
    }

    struct Files;

    impl FileLoader for Files {
        fn load(&self, path: &str) -> Result<Vec<u8>, String> {
            match path {
                "env" => Ok(b"a=hunter2\nb=hunter2\xff\n".to_vec()),
                _ => Err("no such file".to_owned()),
            }
        }
    }

    #[test]
    fn all_that_is_wrong_is_told_but_no_secret() {
        let args = GeneratorArgs {
            name: "one".to_owned(),
            envs: vec!["env".to_owned(), "gone".to_owned()],
            literals: vec![
                "c=hunter2".to_owned(),
                "hunter2".to_owned(),
                "a=hunter2".to_owned(),
            ],
            files: vec!["lost".to_owned()],
            ..GeneratorArgs::default()
        };
        let (_, problems) = pairs(&args, &Files);
        let told: Vec<_> = problems
            .iter()
            .map(|problem| (&problem.at, problem.message.as_str()))
            .collect();
        let line = |number| At::File("env".to_owned(), Some(number));
        assert_eq!(
            told,
            [
                (
                    &line(2),
                    "loading KV pairs: env source file env: line 2 has invalid utf8 bytes"
                ),
                (
                    &At::item("envs", 1),
                    "loading KV pairs: env source file gone: no such file"
                ),
                (
                    &At::item("literals", 1),
                    "loading KV pairs: literal source number 2: invalid literal source, expected key=value"
                ),
                (
                    &At::item("literals", 2),
                    "loading KV pairs: configmap one illegally repeats the key `a`"
                ),
                (
                    &At::item("files", 0),
                    "loading KV pairs: file source lost: no such file"
                ),
            ]
        );
    }
}
