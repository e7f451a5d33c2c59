//! The part of a Pod's schema that the recorded cases touch.

use smd::TypeId;
use smd::schema::{Field, ListType, Relation, Scalar, Schema, Shape, Strategy, StructType, Type};

/// Builds the schema and returns it with the type of a Pod.
pub(super) fn pod() -> (Schema, TypeId) {
    let mut table = Table::default();
    let text = table.add("", Shape::Scalar(Scalar::String));
    let number = table.add("", Shape::Scalar(Scalar::Integer));
    let texts = table.list(text, "");
    let text_map = table.add(
        "",
        Shape::Map {
            item: text,
            atomic: false,
        },
    );

    let field_ref = table.object("ObjectFieldSelector", vec![plain("fieldPath", text)]);
    let source = table.object("EnvVarSource", vec![plain("fieldRef", field_ref)]);
    let env = table.object(
        "EnvVar",
        vec![
            plain("name", text),
            plain("value", text),
            plain("valueFrom", source),
        ],
    );
    let envs = table.list(env, "name");
    let port = table.object(
        "ContainerPort",
        vec![plain("containerPort", number), plain("protocol", text)],
    );
    let ports = table.list(port, "containerPort");
    let resources = table.object(
        "ResourceRequirements",
        vec![plain("limits", text_map), plain("requests", text_map)],
    );
    let container = table.object(
        "Container",
        vec![
            plain("args", texts),
            merged("env", envs),
            plain("image", text),
            plain("name", text),
            merged("ports", ports),
            plain("resources", resources),
        ],
    );
    let containers = table.list(container, "name");

    let item = table.object("KeyToPath", vec![plain("key", text), plain("path", text)]);
    let items = table.list(item, "");
    let config_map = table.object(
        "ConfigMapVolumeSource",
        vec![plain("items", items), plain("name", text)],
    );
    let empty_dir = table.object("EmptyDirVolumeSource", vec![]);
    let volume = table.object(
        "Volume",
        vec![
            plain("configMap", config_map),
            plain("emptyDir", empty_dir),
            plain("name", text),
        ],
    );
    let volumes = table.list(volume, "name");

    let toleration = table.object("Toleration", vec![plain("key", text), plain("value", text)]);
    let tolerations = table.list(toleration, "");
    let secret = table.object("LocalObjectReference", vec![plain("name", text)]);
    let secrets = table.list(secret, "name");
    let sysctl = table.object("Sysctl", vec![plain("name", text)]);
    let sysctls = table.list(sysctl, "");
    let security = table.object(
        "PodSecurityContext",
        vec![plain("runAsUser", number), plain("sysctls", sysctls)],
    );
    let spec = table.object(
        "PodSpec",
        vec![
            merged("containers", containers),
            merged("imagePullSecrets", secrets),
            plain("nodeSelector", text_map),
            plain("priority", number),
            plain("securityContext", security),
            plain("tolerations", tolerations),
            merged("volumes", volumes),
        ],
    );
    let meta = table.object(
        "ObjectMeta",
        vec![
            merged("finalizers", texts),
            plain("labels", text_map),
            plain("name", text),
        ],
    );
    let pod = table.object("Pod", vec![plain("metadata", meta), plain("spec", spec)]);
    (
        Schema {
            types: table.types,
            ..Default::default()
        },
        pod,
    )
}

#[derive(Default)]
struct Table {
    types: Vec<Type>,
}

impl Table {
    fn add(&mut self, name: &str, shape: Shape) -> TypeId {
        self.types.push(Type {
            name: name.into(),
            shape,
            ..Default::default()
        });
        TypeId(self.types.len() as u32 - 1)
    }

    fn list(&mut self, item: TypeId, merge_key: &str) -> TypeId {
        self.add(
            "",
            Shape::List(ListType {
                item,
                relation: Relation::Atomic,
                merge_key: merge_key.into(),
            }),
        )
    }

    fn object(&mut self, name: &str, fields: Vec<Field>) -> TypeId {
        self.add(
            &format!("io.k8s.api.core.v1.{name}"),
            Shape::Struct(StructType {
                fields: fields.into(),
                ..Default::default()
            }),
        )
    }
}

fn plain(name: &str, ty: TypeId) -> Field {
    Field {
        name: name.into(),
        ty,
        required: false,
        default: None,
        strategy: Strategy::default(),
    }
}

fn merged(name: &str, ty: TypeId) -> Field {
    Field {
        strategy: Strategy {
            merge: true,
            ..Default::default()
        },
        ..plain(name, ty)
    }
}
