//! `crates/kustomize/data/field-specs.txt`: where kustomize looks for the fields that it changes.
//!
//! Taken from the texts in kustomize's Go sources: each is a constant of raw strings and other constants joined by `+`, and
//! what comes out is YAML.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use model::Value;

use super::committed::Check;

const FILE: &str = "crates/kustomize/data/field-specs.txt";

const TOP: &str = "\
# Where kustomize 5 looks for the fields that it changes. A heading names what is changed; the lines below it are
# \"KIND.VERSION.GROUP PATH [create]\", where * and missing parts mean any. Under \"nameReference TARGET\" are the fields
# that hold the name of a TARGET.
";

/// The headings and the constants with their fields.
const LISTS: [(&str, &str); 9] = [
    ("namePrefix", "namePrefixFieldSpecs"),
    ("nameSuffix", "nameSuffixFieldSpecs"),
    ("namespace", "namespaceFieldSpecs"),
    ("commonLabels", "commonLabelFieldSpecs"),
    ("templateLabels", "templateLabelFieldSpecs"),
    ("commonAnnotations", "commonAnnotationFieldSpecs"),
    ("images", "imagesFieldSpecs"),
    ("replicas", "replicasFieldSpecs"),
    ("varReference", "varReferenceFieldSpecs"),
];

/// Where the sources are and what to do with them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The sources of kustomize at the tag `kustomize/v5.8.1`: the folder with `api` in it
    #[arg(long)]
    sources: PathBuf,
    #[command(flatten)]
    check: Check,
}

/// Writes the table, or compares it.
pub(crate) fn run(args: &Args) -> Result<()> {
    let folder = args.sources.join("api/internal/konfig/builtinpluginconsts");
    let constants = read_constants(&folder)?;
    args.check.settle(FILE, &table(&constants)?, "field-specs")
}

fn table(constants: &Constants) -> Result<String> {
    let mut text = TOP.to_owned();
    for (heading, constant) in LISTS {
        let list = constants.value(constant)?;
        text.push_str(heading);
        text.push('\n');
        specs(list.list_at(&[heading]), &mut text)
            .with_context(|| format!("{heading} of the constant {constant}"))?;
    }
    let references = constants.value("nameReferenceFieldSpecs")?;
    for reference in references.list_at(&["nameReference"]) {
        let _ = writeln!(text, "nameReference {}", kind(reference));
        specs(reference.list_at(&["fieldSpecs"]), &mut text)?;
    }
    Ok(text)
}

fn specs(list: &[Value], text: &mut String) -> Result<()> {
    ensure!(!list.is_empty(), "there are no fields");
    for spec in list {
        let _ = write!(text, "  {} {}", kind(spec), spec.str_at(&["path"]));
        if spec.get("create").and_then(Value::as_bool) == Some(true) {
            text.push_str(" create");
        }
        text.push('\n');
    }
    Ok(())
}

/// `KIND.VERSION.GROUP`, with the empty parts at the end left out.
fn kind(spec: &Value) -> String {
    let part = |name: &str| spec.str_at(&[name]);
    let kind = match part("kind") {
        "" => "*",
        kind => kind,
    };
    let whole = format!("{kind}.{}.{}", part("version"), part("group"));
    whole.trim_end_matches('.').to_owned()
}

/// Constants of Go that are strings, as they are written.
struct Constants(BTreeMap<String, String>);

fn read_constants(folder: &Path) -> Result<Constants> {
    let mut all = BTreeMap::new();
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("failed to read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "go") {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("failed to read {}", path.display()))?;
            declarations(&text, &mut all);
        }
    }
    Ok(Constants(all))
}

/// Finds `NAME = EXPRESSION` where the expression begins with a raw string. It ends with the line that joins nothing.
fn declarations(text: &str, all: &mut BTreeMap<String, String>) {
    let mut rest = text;
    while let Some(start) = rest.find(" = `") {
        let name = rest[..start].rsplit([' ', '\t', '\n']).next().unwrap_or_default();
        let expression = &rest[start + 3..];
        let end = expression_end(expression);
        all.insert(name.to_owned(), expression[..end].to_owned());
        rest = &expression[end..];
    }
}

fn expression_end(expression: &str) -> usize {
    let mut raw = false;
    for (at, byte) in expression.bytes().enumerate() {
        match byte {
            b'`' => raw = !raw,
            b'\n' if !raw => return at,
            _ => {}
        }
    }
    expression.len()
}

impl Constants {
    /// The text of a constant, with those that it is made of put in.
    fn text(&self, name: &str) -> Result<String> {
        let expression = self
            .0
            .get(name)
            .with_context(|| format!("there is no constant {name}"))?;
        let mut text = String::new();
        for (index, part) in expression.split('`').enumerate() {
            if index % 2 == 1 {
                text.push_str(part);
                continue;
            }
            for other in part.split('+').map(str::trim).filter(|part| !part.is_empty()) {
                text.push_str(&self.text(other)?);
            }
        }
        Ok(text)
    }

    fn value(&self, name: &str) -> Result<Value> {
        yaml::parse(self.text(name)?.as_bytes()).with_context(|| format!("the constant {name} is no YAML"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_put_together() {
        let mut all = BTreeMap::new();
        declarations(
            "const (\n\ta = `\nx:\n- 1\n`\n)\nconst b = `\ny:\n` + c + `- 3\n`\n",
            &mut all,
        );
        declarations("const c = `- 2\n`\n", &mut all);
        let constants = Constants(all);
        assert_eq!(constants.text("a").unwrap(), "\nx:\n- 1\n");
        assert_eq!(constants.text("b").unwrap(), "\ny:\n- 2\n- 3\n");
        assert!(constants.text("d").is_err());
    }

    #[test]
    fn kinds_leave_out_what_is_empty() {
        let spec = |text: &str| kind(&yaml::parse(text.as_bytes()).unwrap());
        assert_eq!(spec("path: a"), "*");
        assert_eq!(spec("{kind: K, version: v1}"), "K.v1");
        assert_eq!(spec("{kind: K, group: g}"), "K..g");
    }
}
