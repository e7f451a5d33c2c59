//! `.Capabilities` as templates see it.

use std::any::Any;
use std::sync::{Arc, LazyLock};

use gotemplate::{ArcStr, Function, Kind, Map, Object, Type, Value};

use crate::HelmVersion;
use crate::capabilities::{Capabilities, KubeVersion};

/// A struct of Go with fields.
struct Struct {
    type_name: &'static str,
    kind: Kind,
    fields: Vec<(ArcStr, Value)>,
    json: Option<Value>,
}

impl Object for Struct {
    fn type_name(&self) -> &'static str {
        self.type_name
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn field(&self, name: &str) -> Option<Value> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    }

    fn fields(&self) -> Vec<(ArcStr, Value)> {
        self.fields.clone()
    }

    fn json(&self) -> Option<Value> {
        self.json.clone()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `.Capabilities`
pub(super) fn value(capabilities: &Capabilities) -> Value {
    let versions = capabilities.api_versions.iter().map(ArcStr::from);
    Value::object(Struct {
        type_name: "*common.Capabilities",
        kind: Kind::Pointer,
        fields: vec![
            ("KubeVersion".into(), kube_version(&capabilities.kube_version)),
            (
                "APIVersions".into(),
                Value::object(VersionSet(versions.collect())),
            ),
            ("HelmVersion".into(), helm_version(capabilities.helm_version)),
        ],
        json: None,
    })
}

fn helm_version(version: HelmVersion) -> Value {
    let (version, client) = match version {
        HelmVersion::V3 => ("v3.21.4", "v1.36"),
        HelmVersion::V4 => ("v4.2.4", "v1.36"),
    };
    let entries = [("version", version), ("kube_client_version", client)];
    let json = entries.map(|(key, text)| (key, Value::str(text)));
    Value::object(Struct {
        type_name: "version.BuildInfo",
        kind: Kind::Struct,
        fields: vec![
            ("Version".into(), Value::str(version)),
            ("GitCommit".into(), Value::str("")),
            ("GitTreeState".into(), Value::str("")),
            ("GoVersion".into(), Value::str("")),
            ("KubeClientVersion".into(), Value::str(client)),
        ],
        json: Some(Value::Map(Map::from_iter(json))),
    })
}

/// The version of Kubernetes, which prints as its numbers alone.
struct Version(KubeVersion);

fn kube_version(version: &KubeVersion) -> Value {
    Value::object(Version(version.clone()))
}

impl Object for Version {
    fn type_name(&self) -> &'static str {
        "common.KubeVersion"
    }

    fn method(&self, name: &str) -> Option<&Function> {
        static GIT_VERSION: LazyLock<Function> = LazyLock::new(|| {
            Function::new(&[], |call| {
                let version = call.receiver().and_then(|value| value.downcast::<Version>());
                Ok(Value::str(
                    version
                        .map(|version| version.0.version.clone())
                        .unwrap_or_default(),
                ))
            })
        });
        static STRING: LazyLock<Function> = LazyLock::new(|| {
            Function::new(&[], |call| {
                let version = call.receiver().and_then(|value| value.downcast::<Version>());
                Ok(Value::str(version.and_then(Version::text).unwrap_or_default()))
            })
        });
        match name {
            "GitVersion" => Some(&GIT_VERSION),
            "String" => Some(&STRING),
            _ => None,
        }
    }

    fn field(&self, name: &str) -> Option<Value> {
        let found = self.fields().into_iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    fn fields(&self) -> Vec<(ArcStr, Value)> {
        vec![
            ("Version".into(), Value::str(self.0.version.as_str())),
            ("Major".into(), Value::str(self.0.major.as_str())),
            ("Minor".into(), Value::str(self.0.minor.as_str())),
        ]
    }

    fn text(&self) -> Option<String> {
        Some(self.0.normalized.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The kinds that a cluster serves.
struct VersionSet(Arc<[ArcStr]>);

impl Object for VersionSet {
    fn type_name(&self) -> &'static str {
        "common.VersionSet"
    }

    fn kind(&self) -> Kind {
        Kind::Slice
    }

    fn method(&self, name: &str) -> Option<&Function> {
        static HAS: LazyLock<Function> = LazyLock::new(|| {
            Function::new(&[Type::String], |call| {
                let set = call.receiver().and_then(|value| value.downcast::<VersionSet>());
                let wanted = call.str(0);
                let has = set.is_some_and(|set| set.0.iter().any(|known| *known == *wanted));
                Ok(Value::Bool(has))
            })
        });
        (name == "Has").then_some(&*HAS)
    }

    fn items(&self) -> Vec<Value> {
        self.0.iter().map(|version| Value::Str(version.clone())).collect()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
