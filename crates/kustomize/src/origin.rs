//! Where a resource comes from, and what changed it: the annotations that `buildMetadata` asks for.

use std::fmt::Write as _;
use std::rc::Rc;

use crate::tree::path;

/// The origin of a resource or of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The file, from the root of the build or of the repository.
    pub(crate) path: String,
    pub(crate) repo: String,
    pub(crate) reference: String,
    /// The file of the generator or transformer.
    pub(crate) configured_in: String,
    pub(crate) configured_by: Option<Identifier>,
}

/// What annotations are to tell of a resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) origin: Option<Rc<Origin>>,
    /// What changed it, the oldest first.
    pub(crate) transformations: Vec<Rc<Origin>>,
}

/// What identifies a generator or transformer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identifier {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
}

pub(crate) const ORIGIN: &str = "config.kubernetes.io/origin";
pub(crate) const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";

impl Origin {
    /// The origin of something that is named in a kustomization of this origin.
    pub(crate) fn append(&self, name: &str) -> Origin {
        let mut origin = self.clone();
        if let Some(spec) = crate::remote::RepoSpec::parse(name) {
            origin.repo = spec.clone_url();
            origin.reference = spec.reference.clone().unwrap_or_default();
            origin.path = path::clean(&spec.path);
        } else {
            origin.path = path::join(&self.path, name);
        }
        origin
    }

    /// A built-in generator or transformer that a field of a kustomization stands for.
    pub(crate) fn of_builtin(&self, file: &str, kind: &str) -> Origin {
        Origin {
            path: String::new(),
            repo: self.repo.clone(),
            reference: self.reference.clone(),
            configured_in: path::join(&self.path, file),
            configured_by: Some(Identifier {
                api_version: "builtin".to_owned(),
                kind: kind.to_owned(),
                ..Identifier::default()
            }),
        }
    }

    /// The text of the annotation.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, "", "");
        out
    }

    /// Writes the fields that are set, the first one after `first`, all others after `indent`.
    fn write(&self, out: &mut String, first: &str, indent: &str) {
        let mut lead = first;
        let fields = [
            ("path", &self.path),
            ("repo", &self.repo),
            ("ref", &self.reference),
            ("configuredIn", &self.configured_in),
        ];
        for (name, text) in fields.into_iter().filter(|(_, text)| !text.is_empty()) {
            let _ = writeln!(out, "{lead}{name}: {}", scalar(text));
            lead = indent;
        }
        let Some(by) = &self.configured_by else {
            return;
        };
        let _ = writeln!(out, "{lead}configuredBy:");
        let fields = [
            ("apiVersion", &by.api_version),
            ("kind", &by.kind),
            ("name", &by.name),
            ("namespace", &by.namespace),
        ];
        for (name, text) in fields.into_iter().filter(|(_, text)| !text.is_empty()) {
            let _ = writeln!(out, "{indent}  {name}: {}", scalar(text));
        }
    }
}

/// The text of the annotation that lists changes.
pub(crate) fn transformations(origins: &[Rc<Origin>]) -> String {
    let mut out = String::new();
    for origin in origins {
        origin.write(&mut out, "- ", "  ");
    }
    out
}

fn scalar(text: &str) -> String {
    let mut out = String::new();
    // A string can always be written.
    let _ = yaml::go::write(&yaml::node::Node::str(text), &mut out);
    out.trim_end().to_owned()
}
