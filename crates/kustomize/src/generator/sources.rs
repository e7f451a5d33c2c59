//! Where the content of ConfigMaps and Secrets comes from.

use std::collections::BTreeMap;

use crate::config::GeneratorArgs;
use crate::tree::path;

/// Reads the files that a generator names.
pub(crate) trait FileLoader {
    /// The content of a file, whose path is relative to the kustomization.
    fn load(&self, path: &str) -> Result<Vec<u8>, String>;
}

/// The keys and their content, from environment files, literals and files.
pub(crate) fn pairs(
    args: &GeneratorArgs,
    files: &dyn FileLoader,
) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut result = BTreeMap::new();
    let mut add = |key: String, content: Vec<u8>| {
        if result.contains_key(&key) {
            return Err(format!(
                "configmap {} illegally repeats the key `{key}`",
                args.name
            ));
        }
        result.insert(key, content);
        Ok(())
    };
    let about =
        |what: &str, all: &[String], problem: String| format!("{what} [{}]: {problem}", all.join(" "));
    for file in &args.envs {
        let content = files
            .load(file)
            .map_err(|problem| about("env source files:", &args.envs, problem))?;
        for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
            let pair =
                env_line(line, number).map_err(|problem| about("env source files:", &args.envs, problem))?;
            if let Some((key, value)) = pair {
                add(key, value)?;
            }
        }
    }
    for literal in &args.literals {
        let (key, value) =
            parse_literal(literal).map_err(|problem| about("literal sources", &args.literals, problem))?;
        add(key.to_owned(), value.as_bytes().to_vec())?;
    }
    for source in &args.files {
        let fail = |problem| about("file sources:", &args.files, problem);
        let (key, file) = parse_file(source).map_err(fail)?;
        let content = files.load(file).map_err(fail)?;
        add(key.to_owned(), content)?;
    }
    Ok(result)
}

/// A line of an environment file: nothing, a comment, or a key with or without a value.
fn env_line(line: &[u8], number: usize) -> Result<Option<(String, Vec<u8>)>, String> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let Ok(text) = std::str::from_utf8(line) else {
        return Err(format!(
            "line {} has invalid utf8 bytes : {}",
            number + 1,
            String::from_utf8_lossy(line)
        ));
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
        _ => Err(format!("invalid literal source {source}, expected key=value")),
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
}
