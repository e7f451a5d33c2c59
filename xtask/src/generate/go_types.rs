//! `crates/smd/data/go-types.json`: what Go's JSON knows of the Kubernetes types and OpenAPI does not tell: which
//! fields are pointers, which are written even when they are empty, and what Go calls the types of single values.
//!
//! Taken from the Go sources of the API types, of which only struct declarations are looked at: they are formatted by
//! gofmt, one field to a line, so that no Go parser is needed. Fields of which there is nothing to say are left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use model::{Map, Value, json};

use super::committed::Check;

/// Where the sources are and what to do with them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of Go modules below `k8s.io`: `$(go env GOMODCACHE)/k8s.io`
    #[arg(long)]
    modules: PathBuf,
    /// The version of the modules
    #[arg(long, default_value = "v0.35.8")]
    version: String,
    #[command(flatten)]
    check: Check,
}

/// The start of a type's OpenAPI name and the Go module it stands in.
const MODULES: &[(&str, &str)] = &[
    ("io.k8s.api.", "api"),
    ("io.k8s.apiextensions-apiserver.", "apiextensions-apiserver"),
    ("io.k8s.apimachinery.", "apimachinery"),
    ("io.k8s.kube-aggregator.", "kube-aggregator"),
];

/// Writes the table, or compares it.
pub(crate) fn run(args: &Args) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let known = root.join("crates/smd/data/kubernetes.json");
    let schema = std::fs::read(&known).with_context(|| format!("failed to read {}", known.display()))?;
    let schema = json::parse(&schema).context("the table of types is not JSON")?;
    let mut sources = Sources {
        args,
        packages: BTreeMap::new(),
    };
    let mut text = String::from("{");
    for (name, ty) in schema.as_object().context("the table of types is no map")?.iter() {
        let Some(fields) = ty.get("fields").and_then(Value::as_object) else {
            continue;
        };
        let facts = sources
            .facts(name, fields)
            .with_context(|| format!("type {name}"))?;
        if facts.is_empty() {
            continue;
        }
        text.push_str(if text.len() == 1 { "\n" } else { ",\n" });
        text.push_str(&format!(
            "{}:{}",
            json::to_string(&Value::str(name)),
            json::to_string(&facts.into())
        ));
    }
    text.push_str("\n}\n");
    args.check
        .settle("crates/smd/data/go-types.json", &text, "go-types")
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
}

/// A field as it is declared.
#[derive(Clone)]
struct Field {
    /// Its Go type.
    ty: String,
    /// Its JSON tag.
    tag: String,
    /// The inlined structs it comes from, each with a slash: Go names them in messages.
    inlined: String,
}

impl Sources<'_> {
    /// What is to be said of the fields of the type called `name` in OpenAPI.
    fn facts(&mut self, name: &str, properties: &Map) -> Result<Map> {
        let (folder, go_name) = self.place(name)?;
        let mut facts = Map::new();
        for field in self.fields(&folder, &go_name)? {
            let mut words = field.tag.split(',');
            let json_name = words.next().unwrap_or_default();
            let options: Vec<_> = words.collect();
            let required = properties.contains_key(&format!("{json_name}!"));
            ensure!(
                required || properties.contains_key(json_name),
                "OpenAPI has no field {json_name}"
            );
            let mut mark = field.inlined.clone();
            if field.ty.starts_with('*') {
                mark.push('*');
            }
            if !options.contains(&"omitempty") {
                mark.push('!');
            }
            if options.contains(&"omitzero") {
                mark.push('0');
            }
            mark.push_str(&self.spelled(&folder, field.ty.trim_start_matches('*'))?);
            if !mark.is_empty() {
                facts.insert(json_name, mark);
            }
        }
        Ok(facts)
    }

    /// The folder of the package and the Go name of a type.
    fn place(&self, name: &str) -> Result<(PathBuf, String)> {
        let found = MODULES
            .iter()
            .find_map(|(prefix, module)| Some((name.strip_prefix(prefix)?, module)));
        let (rest, module) = found.context("its module is not known")?;
        let (package, go_name) = rest.rsplit_once('.').context("it has no package")?;
        let module = self.args.modules.join(format!("{module}@{}", self.args.version));
        Ok((module.join(package.replace('.', "/")), go_name.to_owned()))
    }

    /// The fields of a struct, those of inlined structs among them.
    fn fields(&mut self, folder: &Path, name: &str) -> Result<Vec<Field>> {
        let declared = self.package(folder)?.structs.get(name);
        let declared = declared
            .with_context(|| format!("{} declares no {name}", folder.display()))?
            .clone();
        let mut fields = Vec::new();
        for field in declared {
            if field.tag == "-" {
                continue;
            }
            if !field.tag.contains(",inline") {
                fields.push(field);
                continue;
            }
            let (folder, name) = match field.ty.split_once('.') {
                Some(("metav1", name)) => (
                    self.place(&format!("io.k8s.apimachinery.pkg.apis.meta.v1.{name}"))?
                        .0,
                    name,
                ),
                Some(("v1", name)) => (self.place(&format!("io.k8s.api.core.v1.{name}"))?.0, name),
                Some((package, _)) => anyhow::bail!("package {package} of an inlined struct is not known"),
                None => (folder.to_owned(), field.ty.as_str()),
            };
            let through = if name == "TypeMeta" {
                String::new()
            } else {
                format!("{name}/")
            };
            for mut inner in self.fields(&folder, name)? {
                inner.inlined.insert_str(0, &through);
                fields.push(inner);
            }
        }
        Ok(fields)
    }

    /// What Go calls the type in messages, where that does not follow from the schema: named single values and maps.
    fn spelled(&mut self, folder: &Path, ty: &str) -> Result<String> {
        for (prefix, plain) in [("[]", "string"), ("map[string]", "string")] {
            if let Some(item) = ty.strip_prefix(prefix) {
                let item_name = if item == plain {
                    String::new()
                } else {
                    self.spelled(folder, item)?
                };
                return Ok(if item_name.is_empty() {
                    item_name
                } else {
                    format!("{prefix}{item_name}")
                });
            }
        }
        Ok(match ty {
            "string" | "bool" | "int32" | "int64" => String::new(),
            "byte" => "uint8".to_owned(),
            "float64" => ty.to_owned(),
            _ if ty.starts_with("map[") => {
                let (key, item) = ty[4..].split_once(']').context("a map without end")?;
                let item = match self.is_struct(folder, item)? {
                    true => qualified(folder, item),
                    false => self.spelled(folder, item)?,
                };
                format!("map[{}]{item}", qualified(folder, key))
            }
            _ if self.is_struct(folder, ty)? => String::new(),
            _ => qualified(folder, ty),
        })
    }

    /// Whether the type is a struct. Those of other packages are told by their names.
    fn is_struct(&mut self, folder: &Path, ty: &str) -> Result<bool> {
        let Some((package, name)) = ty.split_once('.') else {
            return Ok(self.package(folder)?.structs.contains_key(ty));
        };
        let folder = match package {
            "metav1" => {
                self.place(&format!("io.k8s.apimachinery.pkg.apis.meta.v1.{name}"))?
                    .0
            }
            "v1" | "corev1" | "apiv1" => self.place(&format!("io.k8s.api.core.v1.{name}"))?.0,
            "runtime" | "resource" | "intstr" => return Ok(true),
            "types" => return Ok(false),
            // Only core types refer to other API groups by another name.
            "authenticationv1" => self.place(&format!("io.k8s.api.authentication.v1.{name}"))?.0,
            other => anyhow::bail!("package {other} is not known"),
        };
        Ok(self.package(&folder)?.structs.contains_key(name))
    }

    fn package(&mut self, folder: &Path) -> Result<&Package> {
        if !self.packages.contains_key(folder) {
            self.packages.insert(folder.to_owned(), read_package(folder)?);
        }
        Ok(&self.packages[folder])
    }
}

/// `PullPolicy` as messages write it: `v1.PullPolicy`. Import names are undone: `corev1.Protocol` is `v1.Protocol`.
fn qualified(folder: &Path, ty: &str) -> String {
    let version = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    match ty.split_once('.') {
        _ if ty == "string" => ty.to_owned(),
        None => format!("{version}.{ty}"),
        Some(("metav1" | "corev1" | "apiv1", name)) => format!("v1.{name}"),
        Some(_) => ty.to_owned(),
    }
}

fn read_package(folder: &Path) -> Result<Package> {
    let mut package = Package::default();
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("failed to read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".go") && !name.ends_with("_test.go") {
            read_structs(&std::fs::read_to_string(&path)?, &mut package);
        }
    }
    Ok(package)
}

fn read_structs(source: &str, package: &mut Package) {
    let mut open: Option<(String, Vec<Field>)> = None;
    for line in source.lines() {
        if let Some(name) = line
            .strip_prefix("type ")
            .and_then(|rest| rest.strip_suffix(" struct {"))
        {
            open = Some((name.to_owned(), Vec::new()));
        } else if line == "}" {
            package.structs.extend(open.take());
        } else if let Some((_, fields)) = &mut open {
            fields.extend(read_field(line));
        }
    }
}

/// A line such as `Name string `json:"name,omitempty"``; embedded structs have no name.
fn read_field(line: &str) -> Option<Field> {
    let (declaration, tags) = line.strip_prefix('\t')?.split_once('`')?;
    let (_, tag) = tags.split_once("json:\"")?;
    let (tag, _) = tag.split_once('"')?;
    let ty = declaration.split_whitespace().last()?;
    (!declaration.starts_with("//")).then(|| Field {
        ty: ty.to_owned(),
        tag: tag.to_owned(),
        inlined: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_line_by_line() {
        let mut package = Package::default();
        let source = "type Spec struct {\n\t// Words.\n\tName *string `json:\"name,omitempty\" protobuf:\"x\"`\n\tTypeMeta \
                      `json:\",inline\"`\n\t// Old `json:\"old\"`\n}\n";
        read_structs(source, &mut package);
        let fields: Vec<_> = package.structs["Spec"]
            .iter()
            .map(|f| (f.ty.as_str(), f.tag.as_str()))
            .collect();
        assert_eq!(fields, [("*string", "name,omitempty"), ("TypeMeta", ",inline")]);
    }
}
