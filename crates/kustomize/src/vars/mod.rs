//! `vars`: `$(NAME)` in some fields stands for the value of a field of a resource.

mod expand;

use std::collections::{BTreeMap, HashMap};

use yaml::node::{Kind, Node, Scalar};

use crate::config::Var;
use crate::field::{Create, FieldPath, FieldSpec, Writes, lookup, split_bracketed};
use crate::id::Gvk;
use crate::resmap::{AnyId, ResMap};
use crate::resource::Resource;
use crate::schema::Schema;
use expand::expand;

/// The vars of a build, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vars(BTreeMap<String, Var>);

impl Vars {
    /// Adds vars whose names must be new.
    pub(crate) fn add(&mut self, vars: impl IntoIterator<Item = Var>) -> Result<(), String> {
        for mut var in vars {
            if self.0.contains_key(&var.name) {
                return Err(format!("var '{}' already encountered", var.name));
            }
            if var.fieldref.field_path.is_empty() {
                var.fieldref.field_path = "metadata.name".to_owned();
            }
            self.0.insert(var.name.clone(), var);
        }
        Ok(())
    }

    pub(crate) fn add_all(&mut self, other: Vars) -> Result<(), String> {
        self.add(other.0.into_values())
    }
}

/// Notes on each resource which vars take their value from it.
pub(crate) fn mark(vars: &[Var], resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
    let names = vars.iter().map(|var| var.objref.name.as_str().into()).collect();
    let mut index = AnyId::new(names, resources.as_slice(), schema);
    for var in vars {
        let target = &var.objref;
        let gvk = if target.api_version.is_empty() {
            Gvk {
                group: target.group.as_str().into(),
                version: target.version.as_str().into(),
                kind: target.kind.as_str().into(),
            }
        } else {
            Gvk::new(&target.api_version, &target.kind)
        };
        let namespace = match target.namespace.as_str() {
            "" => None,
            namespace => Some(namespace),
        };
        let means = |resource: &Resource| {
            let ids = resource.previous_ids().chain([resource.id(schema)]);
            ids.into_iter().any(|id| {
                id.gvk == gvk
                    && id.name == target.name.as_str()
                    && namespace.is_none_or(|namespace| id.effective_namespace() == namespace)
            })
        };
        let mut found = index.named(&target.name, resources.as_slice());
        found.retain(|at| means(&resources.as_slice()[*at]));
        match found.as_slice() {
            [] => {}
            [at] => resources.contents_mut()[*at]
                .ref_vars
                .push(var.name.as_str().into()),
            several => {
                return Err(format!(
                    "found {} resId matches for var {} (unable to disambiguate)",
                    several.len(),
                    var.name
                ));
            }
        }
    }
    Ok(())
}

/// Puts the values in. Returns the vars that nobody uses.
pub(crate) fn resolve(
    vars: &Vars,
    resources: &mut ResMap,
    specs: &[FieldSpec],
) -> Result<Vec<String>, String> {
    if vars.0.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = BTreeMap::new();
    let mut owners: HashMap<&str, &Resource> = HashMap::new();
    for resource in resources.iter() {
        for name in &resource.ref_vars {
            owners.entry(name.as_str()).or_insert(resource);
        }
    }
    for var in vars.0.values() {
        values.insert(
            var.name.as_str(),
            value(var, owners.get(var.name.as_str()).copied())?,
        );
    }
    drop(owners);
    let mut used: BTreeMap<&str, bool> = values.keys().map(|name| (*name, false)).collect();
    let paths = FieldPath::all(specs);
    for resource in resources.contents_mut() {
        for path in &paths {
            let mut writes = Writes::default();
            path.apply(resource, Create::Nothing, &mut |node| {
                set(node, &values, &mut writes, &mut |name| {
                    if let Some(used) = used.get_mut(name) {
                        *used = true;
                    }
                })
            })?;
            writes.spread(&mut resource.node);
        }
    }
    let unused = used.into_iter().filter(|(_, used)| !used);
    Ok(unused.map(|(name, _)| name.to_owned()).collect())
}

/// The value of a var; lists and maps have none that could stand in a text.
fn value(var: &Var, owner: Option<&Resource>) -> Result<Option<Scalar>, String> {
    let Some(owner) = owner else {
        return Err(format!(
            "var '{}' cannot be mapped to a field in the set of known resources",
            shown(var)
        ));
    };
    let path: Vec<String> = split_bracketed(&var.fieldref.field_path)
        .into_iter()
        .flat_map(split_index)
        .collect();
    match lookup(&owner.node, &path) {
        Ok(Some(Node::Scalar(scalar))) => Ok(Some(scalar.clone())),
        Ok(Some(_)) => Ok(None),
        _ => Err(format!(
            "field specified in var '{}' not found in corresponding resource",
            shown(var)
        )),
    }
}

/// `name[0]` is a field and an index.
fn split_index(part: String) -> Vec<String> {
    let indexed = part
        .strip_suffix(']')
        .and_then(|part| part.rsplit_once('['))
        .filter(|(_, index)| !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()));
    match indexed {
        Some(("", index)) => vec![index.to_owned()],
        Some((name, index)) => vec![name.to_owned(), index.to_owned()],
        None => vec![part],
    }
}

/// A var as Go prints it.
fn shown(var: &Var) -> String {
    let Var {
        name,
        objref,
        fieldref,
    } = var;
    let gvk = Gvk {
        group: objref.group.as_str().into(),
        version: objref.version.as_str().into(),
        kind: objref.kind.as_str().into(),
    };
    format!(
        "{{{name} {{{} {gvk} {} {}}} {{{}}}}}",
        objref.api_version, objref.name, objref.namespace, fieldref.field_path
    )
}

type Values<'v> = BTreeMap<&'v str, Option<Scalar>>;

fn set(
    node: &mut Node,
    values: &Values<'_>,
    writes: &mut Writes,
    used: &mut dyn FnMut(&str),
) -> Result<(), String> {
    match node {
        Node::Scalar(scalar) => set_scalar(scalar, values, used),
        Node::Map(map) => map.iter_mut().for_each(|(_, value)| {
            writes.change(value, |value| {
                if let Node::Scalar(scalar) = value {
                    set_scalar(scalar, values, used);
                }
            });
        }),
        Node::List(items) => {
            for item in items {
                match item {
                    Node::Scalar(scalar) if scalar.kind.is_str() => set_scalar(scalar, values, used),
                    _ => return Err("invalid value type expect a string".to_owned()),
                }
            }
        }
    }
    Ok(())
}

fn set_scalar(scalar: &mut Scalar, values: &Values<'_>, used: &mut dyn FnMut(&str)) {
    if !scalar.kind.is_str() || !scalar.text.contains('$') {
        return;
    }
    let mut lookup = |name: &str| {
        let value = values.get(name)?.as_ref()?;
        used(name);
        Some(value.clone())
    };
    let new = expand(&scalar.text, &mut lookup);
    *scalar = match new.kind {
        Kind::Bool | Kind::Int | Kind::Float => new,
        _ => Scalar {
            kind: Kind::Quoted,
            ..new
        },
    };
}
