//! The kustomization file of a build: the one that is there or one that lists what is there, with what the request adds.
//!
//! It is never written: it lies over the files.

mod merge;
pub(crate) mod path;
mod scan;
mod source;

pub(crate) use source::Source;

use kustomize::{FILE_NAMES, Tree as _};
use model::Value;

use crate::error::{Error, Errors};
use crate::files::Files;
use crate::overlay::Overlay;
use crate::request::Request;

/// The kustomization of the directory that is built.
struct Found {
    /// The path of its file.
    file: String,
    /// What it says.
    content: Value,
    origin: Origin,
    /// The text of the file.
    text: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    File,
    Generated,
}

/// The files with the kustomization file over them that the request makes, and where its lines come from.
///
/// What is wrong with the request, but does not keep the rest from being looked at, is added to `errors`.
pub(crate) fn overlay<'f>(
    files: &'f dyn Files,
    request: &Request,
    errors: &mut Vec<Error>,
) -> Result<(Overlay<'f>, Source), Errors> {
    let directory = path::join("", &request.path);
    let there = files.resolve(&directory).filter(|real| files.is_dir(real));
    let Some(there) = there.filter(|_| !path::escapes(&directory)) else {
        return Err(Error::NoDirectory(files.show(&directory)).into());
    };
    let mut found = find_or_generate(files, &directory)?;
    let changes = merge::merge(&mut found, files, &directory, request, errors);
    let mut overlay = Overlay::new(files);
    overlay.put(&found.file, yaml::write(&found.content).into_bytes());
    // The build calls it by its directory with links followed.
    let named = path::join(&there, found.file.rsplit('/').next().unwrap_or_default());
    let is_generated = found.origin == Origin::Generated;
    if is_generated {
        let shown = files.show(&directory);
        let shown = if shown.is_empty() { "." } else { &shown };
        let name = format!("the kustomization that is generated for the directory '{shown}', which has none");
        overlay.call(&named, &name);
    }
    let source = Source::new(overlay.show(&named), found.text, is_generated, changes);
    Ok((overlay, source))
}

fn find_or_generate(files: &dyn Files, directory: &str) -> Result<Found, Error> {
    for name in FILE_NAMES {
        let file = path::join(directory, name);
        if files.is_dir(&file) {
            continue;
        }
        let text = files.read(&file).map_err(|message| Error::Read {
            path: files.show(&file),
            message,
        })?;
        let Some(text) = text else {
            continue;
        };
        let problem = |line: usize, message: String| Error::Kustomization {
            path: files.show(&file),
            line,
            message,
        };
        let content =
            match yaml::parse(&text).map_err(|error| problem(error.line(), error.without_values()))? {
                Value::Null => Value::object(),
                content @ Value::Object(_) => content,
                other => {
                    let message = format!("a kustomization must be an object, not {}", other.type_name());
                    return Err(problem(1, message));
                }
            };
        return Ok(Found {
            file,
            content,
            origin: Origin::File,
            text: String::from_utf8(text.into_owned()).ok(),
        });
    }
    Ok(Found {
        file: path::join(directory, FILE_NAMES[0]),
        content: generated(&scan::manifests(files, directory)?),
        origin: Origin::Generated,
        text: None,
    })
}

/// A namespace that nothing is in: it keeps kustomize from calling a kustomization without resources empty.
const PLACEHOLDER: &str = "_placeholder";

/// A kustomization of these resources.
fn generated(resources: &[String]) -> Value {
    let mut content = Value::object();
    let map = content.make_object();
    if resources.is_empty() {
        map.insert("namespace", PLACEHOLDER);
    } else {
        let resources = resources.iter().map(|path| Value::str(format!("./{path}")));
        map.insert("resources", Value::from(resources.collect::<Vec<_>>()));
    }
    content
}
