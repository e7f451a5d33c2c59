//! Where the content of ConfigMaps and Secrets comes from.

use std::collections::BTreeMap;

use crate::config::GeneratorArgs;
use crate::tree::path;

/// Reads the files that a generator names.
pub(crate) trait FileLoader {
    /// The content of a file, whose path is relative to the kustomization.
    fn load(&self, path: &str) -> Result<Vec<u8>, String>;
}

/// The keys and their content, from environment files, literals and files; or all that is wrong with them. What is in them is
/// not told: it may be a secret.
pub(crate) fn pairs(
    args: &GeneratorArgs,
    files: &dyn FileLoader,
) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut result = BTreeMap::new();
    let mut problems = Vec::new();
    let mut add = |pair: Result<(String, Vec<u8>), String>| match pair {
        Ok((key, _)) if result.contains_key(&key) => problems.push(format!(
            "configmap {} illegally repeats the key `{key}`",
            args.name
        )),
        Ok((key, content)) => drop(result.insert(key, content)),
        Err(problem) => problems.push(problem),
    };
    for file in &args.envs {
        let content = match files.load(file) {
            Ok(content) => content,
            Err(problem) => {
                add(Err(format!("env source file {file}: {problem}")));
                continue;
            }
        };
        for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
            let pair = env_line(line, number).transpose();
            pair.into_iter()
                .for_each(|pair| add(pair.map_err(|problem| format!("env source file {file}: {problem}"))));
        }
    }
    for (number, literal) in args.literals.iter().enumerate() {
        let pair = parse_literal(literal).map(|(key, value)| (key.to_owned(), value.as_bytes().to_vec()));
        add(pair.map_err(|problem| format!("literal source number {}: {problem}", number + 1)));
    }
    for source in &args.files {
        let read = parse_file(source).and_then(|(key, file)| Ok((key.to_owned(), files.load(file)?)));
        add(read.map_err(|problem| format!("file source {source}: {problem}")));
    }
    match problems.is_empty() {
        true => Ok(result),
        false => Err(problems.join("; ")),
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
        let problems = pairs(&args, &Files).unwrap_err();
        assert_eq!(
            problems,
            "env source file env: line 2 has invalid utf8 bytes; env source file gone: no such file; \
             literal source number 2: invalid literal source, expected key=value; \
             configmap one illegally repeats the key `a`; file source lost: no such file"
        );
    }
}
