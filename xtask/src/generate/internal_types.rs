//! `crates/apiserver/data/internal-types.txt`: the API server's own Go types of the values that its messages show.
//!
//! The server converts objects to types of its own before it checks them, and what it shows of a value in a message is
//! the JSON of that type: fields in the order of their declaration, under their Go names, empty ones among them. One
//! line is one struct: its name, then its fields as `GoName=jsonName:type`, where `jsonName` is what the field is called
//! in objects. Structs that have JSON tags (those of `meta`) have no Go names, and a `?` where a field is left out when
//! it is empty. `+struct` is an embedded struct, with `@field` where it stands in a field of its own in objects.
//!
//! Types are `s` (string), `i` (whole number), `b` (boolean), `t` (time), `q` (amount), `x` (number or string), `y`
//! (bytes), `r` (any JSON), a struct, or one of these after `*` (pointer), `[]` (list) or `{}` (map).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::committed::Check;

/// Where the sources are and what to do with them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of Go modules below `k8s.io`: `$(go env GOMODCACHE)/k8s.io`
    #[arg(long)]
    modules: PathBuf,
    /// The version of the server
    #[arg(long, default_value = "1.35.8")]
    version: String,
    #[command(flatten)]
    check: Check,
}

/// The packages: what we call them, the server's own one, and the one of the API with the names of fields in objects.
const PACKAGES: &[(&str, &str, &str)] = &[
    ("apps", "pkg/apis/apps", "apps/v1"),
    ("batch", "pkg/apis/batch", "batch/v1"),
    ("core", "pkg/apis/core", "core/v1"),
    ("flowcontrol", "pkg/apis/flowcontrol", "flowcontrol/v1"),
    ("networking", "pkg/apis/networking", "networking/v1"),
    ("policy", "pkg/apis/policy", "policy/v1"),
    ("rbac", "pkg/apis/rbac", "rbac/v1"),
    ("storage", "pkg/apis/storage", "storage/v1"),
];

/// The structs that messages show; those that they consist of come with them.
const SHOWN: &[&str] = &[
    "apps.DaemonSetUpdateStrategy",
    "apps.DeploymentStrategy",
    "apps.StatefulSetUpdateStrategy",
    "batch.PodFailurePolicy",
    "batch.SuccessPolicy",
    "batch.UncountedTerminatedPods",
    "core.ClusterTrustBundleProjection",
    "core.EventSource",
    "core.HostIP",
    "core.NodeAddress",
    "core.NodeSelectorTerm",
    "core.ObjectReference",
    "core.PersistentVolumeClaimSpec",
    "core.PersistentVolumeSource",
    "core.PodIP",
    "core.PodTemplateSpec",
    "core.ScopeSelector",
    "core.ServicePort",
    "core.Taint",
    "core.VolumeNodeAffinity",
    "flowcontrol.FlowDistinguisherMethod",
    "flowcontrol.FlowSchemaSpec",
    "flowcontrol.PriorityLevelConfigurationSpec",
    "networking.ParentReference",
    "networking.ServiceCIDRSpec",
    "policy.PodDisruptionBudgetSpec",
    "rbac.RoleRef",
    "storage.CSINodeDriver",
    "storage.VolumeAttachmentSpec",
];

/// Fields that stand elsewhere in objects, with their names there.
const MOVED: &[(&str, &str)] = &[
    ("core.PodSecurityContext.HostIPC", "hostIPC"),
    ("core.PodSecurityContext.HostNetwork", "hostNetwork"),
    ("core.PodSecurityContext.HostPID", "hostPID"),
    ("core.PodSecurityContext.HostUsers", "hostUsers"),
    (
        "core.PodSecurityContext.ShareProcessNamespace",
        "shareProcessNamespace",
    ),
];

/// Writes the table, or compares it.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut sources = Sources {
        args,
        packages: BTreeMap::new(),
    };
    let mut lines = BTreeMap::new();
    let mut open: BTreeSet<String> = SHOWN.iter().map(|name| (*name).to_owned()).collect();
    while let Some(name) = open.pop_first() {
        let (line, uses) = sources.line(&name).with_context(|| format!("type {name}"))?;
        lines.insert(name, line);
        open.extend(uses.into_iter().filter(|name| !lines.contains_key(name)));
    }
    let text: String = lines
        .iter()
        .map(|(name, line)| format!("{name}{line}\n"))
        .collect();
    args.check.settle(
        "crates/apiserver/data/internal-types.txt",
        &text,
        "internal-types",
    )
}

/// The packages that were read.
struct Sources<'a> {
    args: &'a Args,
    packages: BTreeMap<PathBuf, Package>,
}

/// The declarations of one package.
#[derive(Default)]
struct Package {
    structs: BTreeMap<String, Vec<Field>>,
    /// `ResourceList` and what it stands for.
    others: BTreeMap<String, String>,
}

/// A field as it is declared.
#[derive(Clone)]
struct Field {
    /// Its Go name; empty where it is embedded.
    name: String,
    ty: String,
    /// Its JSON tag.
    tag: String,
}

impl Sources<'_> {
    /// The line of a struct without its name, and the structs that it consists of.
    fn line(&mut self, full: &str) -> Result<(String, Vec<String>)> {
        let (package, name) = full.split_once('.').context("it has no package")?;
        let declared = self.declared(package, name)?;
        let mut line = String::new();
        let mut uses = Vec::new();
        for field in declared.iter().filter(|field| field.tag != "-") {
            let embedded = field.name.is_empty();
            let ty = self.type_of(package, &field.ty, &mut uses)?;
            line.push(' ');
            match (embedded, ty.as_str()) {
                (true, "meta.ObjectMeta") => line.push_str("+meta.ObjectMeta@metadata"),
                (true, "meta.TypeMeta") => drop(line.pop()),
                (true, ty) => line.push_str(&format!("+{ty}")),
                (false, ty) if package == "meta" => {
                    let (json, options) = field.tag.split_once(',').unwrap_or((&field.tag, ""));
                    let mark = if options.contains("omitempty") { "?" } else { "" };
                    line.push_str(&format!("{json}{mark}:{ty}"));
                }
                (false, ty) => {
                    let json = self.json_name(package, name, &field.name)?;
                    line.push_str(&format!("{}={json}:{ty}", field.name));
                }
            }
        }
        uses.retain(|name| name != "meta.TypeMeta");
        Ok((line, uses))
    }

    fn declared(&mut self, package: &str, name: &str) -> Result<Vec<Field>> {
        let folder = self.internal(package)?;
        let found = self.package(&folder)?.structs.get(name).cloned();
        found.with_context(|| format!("{} declares no {name}", folder.display()))
    }

    fn internal(&self, package: &str) -> Result<PathBuf> {
        let modules = &self.args.modules;
        if package == "meta" {
            return Ok(modules.join(format!("apimachinery@v0.{}/pkg/apis/meta/v1", self.minor()?)));
        }
        let known = PACKAGES.iter().find(|(name, ..)| *name == package);
        let (_, folder, _) = known.with_context(|| format!("package {package} is not known"))?;
        Ok(modules
            .join(format!("kubernetes@v{}", self.args.version))
            .join(folder))
    }

    /// `35.8` of `1.35.8`.
    fn minor(&self) -> Result<&str> {
        let (_, minor) = self
            .args
            .version
            .split_once('.')
            .context("the version has no dot")?;
        Ok(minor)
    }

    /// What the field is called in objects.
    fn json_name(&mut self, package: &str, owner: &str, name: &str) -> Result<String> {
        let known = PACKAGES.iter().find(|(known, ..)| *known == package);
        let (.., api) = known.with_context(|| format!("package {package} is not known"))?;
        let folder = self
            .args
            .modules
            .join(format!("api@v0.{}", self.minor()?))
            .join(api);
        let fields = self.package(&folder)?.structs.get(owner);
        let tag = fields
            .into_iter()
            .flatten()
            .find(|field| field.name == name)
            .and_then(|field| field.tag.split(',').next());
        Ok(match tag {
            Some(tag) => tag.to_owned(),
            None => {
                let moved = MOVED
                    .iter()
                    .find(|(moved, _)| *moved == format!("{package}.{owner}.{name}"));
                let (_, json) = moved.with_context(|| format!("{api} has no field for {name}"))?;
                (*json).to_owned()
            }
        })
    }

    /// A type in our words; the struct in it is added to `uses`.
    fn type_of(&mut self, package: &str, ty: &str, uses: &mut Vec<String>) -> Result<String> {
        for (go, ours) in [("*", "*"), ("[]", "[]")] {
            if let Some(item) = ty.strip_prefix(go).filter(|item| *item != "byte") {
                return Ok(format!("{ours}{}", self.type_of(package, item, uses)?));
            }
        }
        if let Some((_, item)) = ty.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            return Ok(format!("{{}}{}", self.type_of(package, item, uses)?));
        }
        Ok(match ty {
            "string" => "s".into(),
            "int32" | "int64" | "int" => "i".into(),
            "bool" => "b".into(),
            "[]byte" => "y".into(),
            "metav1.Time" | "metav1.MicroTime" | "Time" => "t".into(),
            "resource.Quantity" => "q".into(),
            "intstr.IntOrString" => "x".into(),
            "runtime.RawExtension" | "FieldsV1" => "r".into(),
            _ if ty.starts_with("types.") => "s".into(),
            _ => {
                let (package, name) = match ty.split_once('.') {
                    None => (package, ty),
                    Some(("metav1", name)) => ("meta", name),
                    Some(("api", name)) => ("core", name),
                    Some((other, name)) => (other, name),
                };
                let folder = self.internal(package)?;
                let declared = self.package(&folder)?;
                if let Some(alias) = declared.others.get(name).cloned() {
                    return self.type_of(package, &alias, uses);
                }
                ensure!(declared.structs.contains_key(name), "{ty} is not declared");
                uses.push(format!("{package}.{name}"));
                format!("{package}.{name}")
            }
        })
    }

    fn package(&mut self, folder: &Path) -> Result<&Package> {
        if !self.packages.contains_key(folder) {
            let source = std::fs::read_to_string(folder.join("types.go"))
                .with_context(|| format!("failed to read the types of {}", folder.display()))?;
            self.packages.insert(folder.to_owned(), read_package(&source));
        }
        Ok(&self.packages[folder])
    }
}

/// Reads declarations, which gofmt puts one field to a line.
fn read_package(source: &str) -> Package {
    let mut package = Package::default();
    let mut open: Option<(String, Vec<Field>)> = None;
    for line in source.lines() {
        if let Some((name, ty)) = line.strip_prefix("type ").and_then(|rest| rest.split_once(' ')) {
            match ty {
                "struct {" => open = Some((name.to_owned(), Vec::new())),
                ty => drop(package.others.insert(name.to_owned(), ty.to_owned())),
            }
        } else if line == "}" {
            package.structs.extend(open.take());
        } else if let Some((_, fields)) = &mut open {
            fields.extend(read_field(line));
        }
    }
    package
}

/// A line such as `Name *string `json:"name,omitempty"``; the tag may be missing, and embedded structs have no name.
fn read_field(line: &str) -> Option<Field> {
    let line = line.strip_prefix('\t')?;
    let (line, _) = line.split_once(" //").unwrap_or((line, ""));
    let (declaration, tags) = line.split_once('`').unwrap_or((line, ""));
    let tag = tags
        .split_once("json:\"")
        .and_then(|(_, tag)| tag.split_once('"'))
        .map_or("", |(tag, _)| tag);
    let mut words = declaration.split_whitespace();
    let (first, second) = (words.next()?, words.next());
    if first.starts_with("//") {
        return None;
    }
    Some(Field {
        name: second.map_or("", |_| first).to_owned(),
        ty: second.unwrap_or(first).to_owned(),
        tag: tag.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_read_line_by_line() {
        let source = "type Mode string\n\ntype Spec struct {\n\t// Words.\n\tName *string `json:\"name,omitempty\"`\n\tVolumeSource\n\tMode Mode // Words.\n}\n";
        let package = read_package(source);
        assert_eq!(package.others["Mode"], "string");
        let fields: Vec<_> = package.structs["Spec"]
            .iter()
            .map(|field| (field.name.as_str(), field.ty.as_str(), field.tag.as_str()))
            .collect();
        assert_eq!(
            fields,
            [
                ("Name", "*string", "name,omitempty"),
                ("", "VolumeSource", ""),
                ("Mode", "Mode", "")
            ]
        );
    }
}
