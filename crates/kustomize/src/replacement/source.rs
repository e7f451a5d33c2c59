//! Where the values that are copied come from.

use yaml::node::Node;

use super::{DEFAULT_PATH, NO_TARGET, SCALARS_ONLY, Wrong, candidates, ids};
use crate::config::{FieldOptions, Replacement, Source};
use crate::field::{lookup, split_bracketed};
use crate::id::{Gvk, ResId};
use crate::problem::{Needs, key};
use crate::resmap::AnyId;
use crate::resource::Resource;
use crate::schema::Schema;

/// The value to be copied.
pub(super) struct Copied {
    pub(super) node: Node,
    /// The resource and the field that it comes from, if all of it is copied: what is written over that field is what is
    /// copied from then on.
    from: Option<(usize, Vec<String>)>,
}

impl Copied {
    pub(super) fn new(
        replacement: &Replacement,
        resources: &[Resource],
        index: &mut AnyId,
        schema: &Schema,
    ) -> Result<Copied, Option<Wrong>> {
        let refuse = |message: &str| Err(Some(Wrong::new(Vec::new(), message)));
        match (&replacement.source_value, &replacement.source) {
            (Some(_), Some(_)) => refuse("value and resource selectors are mutually exclusive"),
            (None, None) => refuse(NO_TARGET),
            (Some(text), None) => Ok(Copied {
                node: Node::plain(text),
                from: None,
            }),
            (None, Some(source)) => from_source(source, resources, index, schema),
        }
    }

    /// Looks at the field again, after something was written to a resource.
    pub(super) fn renew(&mut self, at: usize, resource: &Resource) {
        if let Some((from, path)) = &self.from
            && *from == at
            && let Ok(Some(field)) = lookup(&resource.node, path)
        {
            self.node = field.clone();
        }
    }
}

fn from_source(
    source: &Source,
    resources: &[Resource],
    index: &mut AnyId,
    schema: &Schema,
) -> Result<Copied, Option<Wrong>> {
    let wrong = |field: &str, message: String| Wrong::new(vec![key("source"), key(field)], message);
    let wanted = ResId {
        gvk: Gvk {
            group: source.group.as_str().into(),
            version: source.version.as_str().into(),
            kind: source.kind.as_str().into(),
        },
        name: source.name.as_str().into(),
        namespace: source.namespace.as_str().into(),
        cluster_scoped: false,
    };
    let path = if source.field_path.is_empty() {
        DEFAULT_PATH
    } else {
        &source.field_path
    };
    let shown = || {
        let mut text = wanted.to_string();
        for part in [source.field_path.clone(), shown_options(source.options.as_ref())] {
            if !part.is_empty() {
                text.push(':');
                text.push_str(&part);
            }
        }
        text
    };
    let mut found: Vec<usize> = Vec::new();
    let name = Some(source.name.as_str()).filter(|name| !name.is_empty());
    for at in candidates(name, resources, index) {
        let resource = &resources[at];
        let fits = ids(resource, schema).iter().any(|id| id.is_selected_by(&wanted));
        if fits {
            found.push(at);
        }
    }
    let (at, found) = match found.as_slice() {
        &[at] => (at, &resources[at]),
        [] => {
            let problem = wrong("", format!("nothing selected by {}", shown()));
            return Err(Some(Wrong {
                needs: Needs::object(&source.kind, &source.name),
                ..problem
            }));
        }
        several => {
            let problem = wrong("", format!("multiple matches for selector {}", shown()));
            return Err(Some(Wrong {
                needs: Needs::of_several(several.iter().map(|&at| &resources[at])),
                ..problem
            }));
        }
    };
    // The field may be missing, or not be what it should be, since a change was lost.
    let refuse = |field: &str, message: String| (!found.is_unsure()).then(|| wrong(field, message));
    let parts = split_bracketed(path);
    let field = lookup(&found.node, &parts).map_err(|problem| {
        let message = format!("error looking up replacement source: {problem}");
        refuse("fieldPath", message)
    })?;
    match field {
        Some(field) if !field.is_empty() => {
            let options = source
                .options
                .as_ref()
                .filter(|options| !options.delimiter.is_empty());
            let node = match options {
                Some(options) => part_of(field, options).map_err(|problem| refuse("options", problem))?,
                None => field.clone(),
            };
            Ok(Copied {
                node,
                from: options.is_none().then_some((at, parts)),
            })
        }
        _ => {
            let message = format!("fieldPath `{path}` is missing for replacement source {wanted}");
            Err(refuse("fieldPath", message))
        }
    }
}

fn shown_options(options: Option<&FieldOptions>) -> String {
    match options {
        Some(options) if !options.delimiter.is_empty() || options.create => format!(
            "{}({}), create={}",
            options.delimiter, options.index, options.create
        ),
        _ => String::new(),
    }
}

/// The part of the source's field that is meant.
fn part_of(field: &Node, options: &FieldOptions) -> Result<Node, String> {
    let Node::Scalar(scalar) = field else {
        return Err(SCALARS_ONLY.to_owned());
    };
    let mut parts = field.text().split(options.delimiter.as_str());
    let part = usize::try_from(options.index)
        .ok()
        .and_then(|index| parts.nth(index));
    let Some(part) = part else {
        // The value is not told: it may be a secret.
        return Err(format!(
            "options.index {} is out of bounds for value",
            options.index
        ));
    };
    let mut result = scalar.clone();
    result.text = part.into();
    Ok(Node::Scalar(result))
}
