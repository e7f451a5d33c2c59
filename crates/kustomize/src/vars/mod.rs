//! `vars`: `$(NAME)` in some fields stands for the value of a field of a resource.

mod expand;

use std::collections::{BTreeMap, HashMap};

use yaml::node::{Kind, Node, Scalar};

use crate::config::Var;
use crate::field::{Create, FieldPath, FieldSpec, Writes, lookup, split_bracketed};
use crate::id::Gvk;
use crate::problem::{Needs, Problem};
use crate::resmap::{AnyId, ResMap};
use crate::resource::Resource;
use crate::schema::Schema;
use expand::expand;

/// The vars of a build, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vars(BTreeMap<String, Var>);

impl Vars {
    /// Adds vars whose names must be new.
    pub(crate) fn add(&mut self, vars: impl IntoIterator<Item = Var>) -> Result<(), Vec<Problem>> {
        let mut problems = Vec::new();
        for (number, mut var) in vars.into_iter().enumerate() {
            if self.0.contains_key(&var.name) {
                let message = format!("var '{}' already encountered", var.name);
                problems.push(Problem::from(message).of_entry(number));
                continue;
            }
            if var.fieldref.field_path.is_empty() {
                var.fieldref.field_path = "metadata.name".to_owned();
            }
            self.0.insert(var.name.clone(), var);
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems),
        }
    }

    /// Adds those of another kustomization; gives all that is wrong.
    pub(crate) fn add_all(&mut self, other: Vars) -> Vec<String> {
        let problems = self.add(other.0.into_values()).err().unwrap_or_default();
        problems.into_iter().map(|problem| problem.message).collect()
    }
}

/// Notes on each resource which vars take their value from it; or tells which vars could mean several.
pub(crate) fn mark(vars: &[Var], resources: &mut ResMap, schema: &Schema) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    let names = vars.iter().map(|var| var.objref.name.as_str().into()).collect();
    let mut index = AnyId::new(names, resources.as_slice(), schema);
    for (number, var) in vars.iter().enumerate() {
        let target = &var.objref;
        let gvk = gvk(var);
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
                let message = format!(
                    "found {} resId matches for var {} (unable to disambiguate)",
                    several.len(),
                    shown(var)
                );
                let needs = Needs::of_several(several.iter().map(|&at| &resources.as_slice()[at]));
                problems.push(Problem::from(message).of_entry(number).needing(needs));
            }
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}

/// The kind of the object that a var means.
fn gvk(var: &Var) -> Gvk {
    let target = &var.objref;
    if target.api_version.is_empty() {
        return Gvk {
            group: target.group.as_str().into(),
            version: target.version.as_str().into(),
            kind: target.kind.as_str().into(),
        };
    }
    Gvk::new(&target.api_version, &target.kind)
}

/// Puts the values in. Returns the vars that nobody uses.
pub(crate) fn resolve(
    vars: &Vars,
    resources: &mut ResMap,
    specs: &[FieldSpec],
) -> Result<Vec<String>, Vec<Problem>> {
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
    let mut problems = Vec::new();
    for var in vars.0.values() {
        match value(var, owners.get(var.name.as_str()).copied()) {
            Ok(value) => drop(values.insert(var.name.as_str(), value)),
            Err(problem) => problems.extend(problem),
        }
    }
    drop(owners);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut used: BTreeMap<&str, bool> = values.keys().map(|name| (*name, false)).collect();
    let paths = FieldPath::all(specs);
    for resource in resources.contents_mut() {
        for path in &paths {
            let mut writes = Writes::default();
            let done = path.apply(resource, Create::Nothing, &mut |node| {
                set(node, &values, &mut writes, &mut |name| {
                    if let Some(used) = used.get_mut(name) {
                        *used = true;
                    }
                })
            });
            problems.extend(
                done.err()
                    .and_then(|problem| resource.refuse(Problem::from(problem))),
            );
            writes.spread(&mut resource.node);
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let unused = used.into_iter().filter(|(_, used)| !used);
    Ok(unused.map(|(name, _)| name.to_owned()).collect())
}

/// The value of a var; lists and maps have none that could stand in a text.
fn value(var: &Var, owner: Option<&Resource>) -> Result<Option<Scalar>, Option<Problem>> {
    let Some(owner) = owner else {
        let message = format!(
            "var '{}' cannot be mapped to a field in the set of known resources",
            shown(var)
        );
        let needs = Needs::object(&var.objref.kind, &var.objref.name);
        return Err(Some(Problem::from(message).needing(needs)));
    };
    let path: Vec<String> = split_bracketed(&var.fieldref.field_path)
        .into_iter()
        .flat_map(split_index)
        .collect();
    let found = match lookup(&owner.node, &path) {
        Ok(Some(Node::Scalar(scalar))) => read(scalar).map(Some),
        Ok(Some(_)) => Some(None),
        _ => None,
    };
    found.ok_or_else(|| {
        let message = format!(
            "field specified in var '{}' not found in corresponding resource",
            shown(var)
        );
        (!owner.is_unsure()).then(|| Problem::from(message))
    })
}

/// The value of a field as Go reads it, which is more narrow about numbers than YAML is. What transformers have set has no
/// type and is a string.
fn read(scalar: &Scalar) -> Option<Scalar> {
    let text = scalar.text.as_str();
    let kind = match scalar.requoted {
        true => Kind::of(text),
        false => scalar.kind,
    };
    let (text, kind) = match kind {
        _ if scalar.untyped => (text.to_owned(), Kind::Quoted),
        Kind::Int => (text.parse::<i64>().ok()?.to_string(), Kind::Int),
        Kind::Float => (text.parse::<f64>().ok()?.to_string(), Kind::Float),
        Kind::Bool => (text.to_ascii_lowercase(), Kind::Bool),
        kind => (text.to_owned(), kind),
    };
    Some(Scalar::new(text, kind))
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

/// A var as Go prints it: of the object that it means only the kind.
fn shown(var: &Var) -> String {
    format!("{{{} {} {{{}}}}}", var.name, gvk(var), var.fieldref.field_path)
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
                    Node::Scalar(scalar) if is_string(scalar) => set_scalar(scalar, values, used),
                    _ => return Err("invalid value type expect a string".to_owned()),
                }
            }
        }
    }
    Ok(())
}

/// What has no type of its own is taken for a string here.
fn is_string(scalar: &Scalar) -> bool {
    scalar.untyped || scalar.kind.is_str() && !scalar.requoted
}

fn set_scalar(scalar: &mut Scalar, values: &Values<'_>, used: &mut dyn FnMut(&str)) {
    if !is_string(scalar) {
        return;
    }
    if scalar.untyped || scalar.folded {
        // It is set anew, whatever is in it: it is not folded any more, and a string from now on.
        scalar.kind = Kind::Quoted;
        (scalar.untyped, scalar.folded) = (false, false);
    }
    if !scalar.text.contains('$') {
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
