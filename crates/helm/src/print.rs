//! What `helm template` prints.

use std::borrow::Cow;
use std::fmt::Write as _;

use model::glob::Glob;

use crate::HelmVersion;
use crate::manifest::split;
use crate::release::Rendered;

/// What to print.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What lies in `crds/` too.
    pub include_crds: bool,
    /// No hooks.
    pub no_hooks: bool,
    /// No tests.
    pub skip_tests: bool,
    /// Only what comes from these templates, as patterns of their paths below the chart.
    pub show_only: Vec<String>,
}

/// A template is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("could not find template {0} in chart")]
pub struct Missing(pub String);

/// All documents, as `helm template` prints them, in pieces that follow one another: a copy of all would be the most memory that is
/// needed. What [`Options::show_only`] asks for is not looked at.
pub fn pieces<'r>(rendered: &'r Rendered, options: &Options) -> Vec<Cow<'r, str>> {
    let mut out = Vec::new();
    if options.include_crds {
        for (path, content) in &rendered.crds {
            document(&mut out, path, text(content));
        }
    }
    for manifest in &rendered.manifests {
        document(&mut out, &manifest.path, manifest.content.as_str().into());
    }
    // White space at the end goes, and with it the line end before a document that is nothing else.
    match out.as_mut_slice() {
        [.., before, last, _] => {
            trim_end(last);
            if last.is_empty() {
                *before = "".into();
            }
        }
        _ => out.push("\n".into()),
    }
    if !options.no_hooks {
        for hook in &rendered.hooks {
            if !(options.skip_tests && hook.is_test()) {
                document(&mut out, &hook.path, hook.manifest.as_str().into());
            }
        }
    }
    out
}

/// One document with where it comes from.
fn document<'r>(out: &mut Vec<Cow<'r, str>>, path: &'r str, text: Cow<'r, str>) {
    out.extend([
        "---\n# Source: ".into(),
        path.into(),
        "\n".into(),
        text,
        "\n".into(),
    ]);
}

fn trim_end(text: &mut Cow<'_, str>) {
    match text {
        Cow::Borrowed(text) => *text = text.trim_end(),
        Cow::Owned(text) => text.truncate(text.trim_end().len()),
    }
}

/// All documents, as `helm template` prints them.
pub fn template(rendered: &Rendered, options: &Options, version: HelmVersion) -> Result<String, Missing> {
    let all = pieces(rendered, options).concat();
    match options.show_only.is_empty() {
        true => Ok(all),
        false => only(&all, &options.show_only, version),
    }
}

/// Bytes as text. Most are text as they are, and that is seen much sooner than what is none is replaced.
fn text(content: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(content) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(content),
    }
}

/// The documents that come from certain templates, in the order of the patterns.
fn only(all: &str, patterns: &[String], version: HelmVersion) -> Result<String, Missing> {
    let documents = split(all, version);
    let mut out = String::new();
    for pattern in patterns {
        let globs: Option<Vec<Glob>> = pattern
            .split('/')
            .map(|part| Glob::compile(part.as_bytes()))
            .collect();
        let matching = documents.iter().filter(|document| {
            let path = source(document);
            let parts = path
                .map(|path| path.split('/').collect::<Vec<_>>())
                .unwrap_or_default();
            globs.as_ref().is_some_and(|globs| {
                globs.len() == parts.len() && globs.iter().zip(&parts).all(|(glob, part)| glob.matches(part))
            })
        });
        let before = out.len();
        for document in matching {
            let _ = write!(out, "---\n{document}\n");
        }
        if out.len() == before {
            return Err(Missing(pattern.clone()));
        }
    }
    Ok(out)
}

/// The path of the template below its chart, out of the first comment that tells it.
fn source(document: &str) -> Option<&str> {
    let (_, after) = document.split_once("# Source: ")?;
    let (_, path) = after.lines().next()?.split_once('/')?;
    Some(path)
}
