//! What `Chart.yaml` says, and what an entry of an index repeats of it.

use std::collections::BTreeMap;
use std::fmt;

use model::Value;
use model::semver::Version;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

/// The fields of `Chart.yaml`, in the order in which Helm writes them.
pub const FIELDS: &[&str] = &[
    "name",
    "home",
    "sources",
    "version",
    "description",
    "keywords",
    "maintainers",
    "icon",
    "apiVersion",
    "condition",
    "tags",
    "appVersion",
    "deprecated",
    "annotations",
    "kubeVersion",
    "dependencies",
    "type",
];
/// The fields of a maintainer.
pub const MAINTAINER_FIELDS: &[&str] = &["name", "email", "url"];
/// The fields of a chart that is depended on.
pub const DEPENDENCY_FIELDS: &[&str] = &[
    "name",
    "version",
    "repository",
    "condition",
    "tags",
    "enabled",
    "import-values",
    "alias",
];

/// The fields of `Chart.yaml`. Fields that Helm does not know are not kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Metadata {
    /// The name.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The project's page.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub home: String,
    /// Where its sources are.
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The version.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// What it is, in a sentence.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Words to find it by.
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Who keeps it.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub maintainers: Vec<Option<Maintainer>>,
    /// An image.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub icon: String,
    /// `v1` or `v2`.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The value that enables it.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub condition: String,
    /// The tags that enable it.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub tags: String,
    /// The version of what it installs.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub app_version: String,
    /// Whether it should no longer be used.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_false")]
    pub deprecated: bool,
    /// What other programs say about it.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, Text>,
    /// The versions of Kubernetes it works with.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub kube_version: String,
    /// The charts it needs.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Option<Dependency>>,
    /// `application` or `library`.
    #[serde(
        rename = "type",
        deserialize_with = "text",
        skip_serializing_if = "String::is_empty"
    )]
    pub kind: String,
}

/// Someone who keeps a chart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Maintainer {
    /// The name.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The address to write to.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub email: String,
    /// The page.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub url: String,
}

/// A chart that another one needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dependency {
    /// The name.
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// The version or range.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Where to find it: an address, `file://` with a path, or nothing for `charts/`.
    #[serde(deserialize_with = "text")]
    pub repository: String,
    /// The value that enables it.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub condition: String,
    /// The tags that enable it.
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether it is enabled.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_false")]
    pub enabled: bool,
    /// Which of its values the parent sees.
    #[serde(
        rename = "import-values",
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub import_values: Vec<Value>,
    /// The name it has in the parent.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub alias: String,
}

impl Dependency {
    /// The name it has in the parent: its alias or its own.
    pub fn local_name(&self) -> &str {
        if self.alias.is_empty() {
            &self.name
        } else {
            &self.alias
        }
    }
}

/// What `Chart.lock` says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lock {
    /// When it was made.
    #[serde(deserialize_with = "text")]
    pub generated: String,
    /// What it was made of.
    #[serde(deserialize_with = "text")]
    pub digest: String,
    /// The charts, each in one version.
    #[serde(deserialize_with = "or_default")]
    pub dependencies: Vec<Option<Dependency>>,
}

/// Why metadata is not what a chart needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("validation: {0}")]
pub struct Invalid(pub String);

impl Metadata {
    /// Reads the fields out of a tree. A version of the format that is not given is the first one.
    pub fn read(value: &Value) -> Result<Self, model::convert::Error> {
        let mut metadata: Metadata = match value {
            Value::Null => Metadata::default(),
            value => model::convert::to_serde(value)?,
        };
        if metadata.api_version.is_empty() {
            metadata.api_version = "v1".to_owned();
        }
        Ok(metadata)
    }

    /// Checks the metadata as Helm does and takes what does not print out of its texts.
    pub fn validate(&mut self) -> Result<(), Invalid> {
        self.validate_entry()?;
        let mut seen = Vec::new();
        for dependency in self.dependencies.iter().flatten() {
            let name = dependency.local_name();
            if seen.contains(&name) {
                return invalid(format!("more than one dependency with name or alias {name:?}"));
            }
            seen.push(name);
        }
        Ok(())
    }

    /// As [`Metadata::validate`], but dependencies of the same name are fine: some repositories leave out the aliases.
    pub fn validate_entry(&mut self) -> Result<(), Invalid> {
        self.clean();
        if self.name.is_empty() {
            return invalid("chart.metadata.name is required");
        }
        if self.name == "." || self.name == ".." {
            return invalid(format!("chart.metadata.name {:?} is not allowed", self.name));
        }
        if self.name.contains('/') {
            return invalid(format!("chart.metadata.name {:?} is invalid", self.name));
        }
        if self.version.is_empty() {
            return invalid("chart.metadata.version is required");
        }
        if Version::parse(&self.version).is_err() {
            return invalid(format!("chart.metadata.version {:?} is invalid", self.version));
        }
        if !matches!(self.kind.as_str(), "" | "application" | "library") {
            return invalid("chart.metadata.type must be application or library");
        }
        if self.maintainers.iter().any(Option::is_none) {
            return invalid("maintainers must not contain empty or null nodes");
        }
        for dependency in &self.dependencies {
            let Some(dependency) = dependency else {
                return invalid("dependencies must not contain empty or null nodes");
            };
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            if !dependency.alias.bytes().all(allowed) {
                return invalid(format!(
                    "dependency {:?} has disallowed characters in the alias",
                    dependency.name
                ));
            }
        }
        Ok(())
    }

    fn clean(&mut self) {
        let own = [
            &mut self.name,
            &mut self.description,
            &mut self.home,
            &mut self.icon,
            &mut self.condition,
            &mut self.tags,
            &mut self.app_version,
            &mut self.kube_version,
        ];
        own.into_iter().for_each(printable);
        self.sources.iter_mut().for_each(printable);
        self.keywords.iter_mut().for_each(printable);
        for maintainer in self.maintainers.iter_mut().flatten() {
            let texts = [&mut maintainer.name, &mut maintainer.email, &mut maintainer.url];
            texts.into_iter().for_each(printable);
        }
        for dependency in self.dependencies.iter_mut().flatten() {
            let texts = [
                &mut dependency.name,
                &mut dependency.version,
                &mut dependency.repository,
                &mut dependency.condition,
            ];
            texts.into_iter().for_each(printable);
            dependency.tags.iter_mut().for_each(printable);
        }
    }
}

/// White space becomes spaces, control characters go.
fn printable(text: &mut String) {
    if text
        .chars()
        .any(|c| c.is_whitespace() && c != ' ' || c.is_control())
    {
        *text = text
            .chars()
            .map(|c| if c.is_whitespace() { ' ' } else { c })
            .filter(|c| !c.is_control())
            .collect();
    }
}

fn invalid<T>(text: impl Into<String>) -> Result<T, Invalid> {
    Err(Invalid(text.into()))
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A string that may have been written as a number or a boolean, which Go turns into strings where it expects some.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text(pub String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyScalar;
        impl<'de> Visitor<'de> for AnyScalar {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_owned()))
            }

            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Text, E> {
                Ok(Text(flag.to_string()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Text, E> {
                Ok(Text(shortest(number)))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Text, E> {
                Ok(Text::default())
            }

            fn visit_none<E: de::Error>(self) -> Result<Text, E> {
                Ok(Text::default())
            }
        }
        deserializer.deserialize_any(AnyScalar)
    }
}

/// The number as `sigs.k8s.io/yaml` turns it into a string: `%g` of Go in 32 bits, with the fewest digits.
#[allow(clippy::cast_possible_truncation, reason = "Go loses the same digits")]
fn shortest(number: f64) -> String {
    let number = number as f32;
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => number.to_string(),
    }
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Text::deserialize(deserializer).map(|text| text.0)
}

fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let texts = Option::<Vec<Text>>::deserialize(deserializer)?;
    Ok(texts.unwrap_or_default().into_iter().map(|text| text.0).collect())
}

fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Metadata {
        Metadata::read(&yaml::parse(text.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn numbers_where_strings_are_expected_become_the_strings_that_go_makes() {
        // What helm.sh/helm/v4 4.2.4 reads.
        for (written, read_as) in [
            ("1.0", "1"),
            ("1.10", "1.1"),
            ("1234567.5", "1.2345675e+06"),
            ("123456789.25", "1.2345679e+08"),
            ("0.00001", "1e-05"),
            ("20230101", "20230101"),
            ("true", "true"),
        ] {
            assert_eq!(read(&format!("appVersion: {written}")).app_version, read_as);
        }
    }

    #[test]
    fn what_a_chart_needs_is_checked() {
        let mut fine = read("name: a\nversion: 1.2\ndescription: \"a\\tb\\x07\"\nunknown: {}");
        fine.validate().unwrap();
        assert_eq!(
            (fine.api_version.as_str(), fine.description.as_str()),
            ("v1", "a b")
        );
        for (text, message) in [
            ("version: 1", "validation: chart.metadata.name is required"),
            (
                "name: a/b\nversion: 1",
                "validation: chart.metadata.name \"a/b\" is invalid",
            ),
            (
                "name: ..\nversion: 1",
                "validation: chart.metadata.name \"..\" is not allowed",
            ),
            ("name: a", "validation: chart.metadata.version is required"),
            (
                "name: a\nversion: x",
                "validation: chart.metadata.version \"x\" is invalid",
            ),
            (
                "name: a\nversion: 1\ntype: b",
                "validation: chart.metadata.type must be application or library",
            ),
            (
                "name: a\nversion: 1\ndependencies: [{name: b}, {name: b}]",
                "validation: more than one dependency with name or alias \"b\"",
            ),
        ] {
            assert_eq!(read(text).validate().unwrap_err().to_string(), message);
        }
    }
}
