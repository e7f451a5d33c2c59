//! The committed table of Kubernetes' own types.

use model::value;
use smd::schema::{Field, Relation, Scalar, Shape};
use smd::{Schema, TypeId};

/// The field at the end of `path`, from a kind's type down through structs, list elements and map values.
fn field<'s>(schema: &'s Schema, kind: TypeId, path: &[&str]) -> &'s Field {
    let mut ty = kind;
    let mut found = None;
    for name in path {
        let shape = match &schema.get(ty).shape {
            Shape::List(list) => &schema.get(list.item).shape,
            Shape::Map { item, .. } => &schema.get(*item).shape,
            shape => shape,
        };
        let Shape::Struct(fields) = shape else {
            panic!("{name} is asked of no struct")
        };
        let field = fields.field(name).unwrap_or_else(|| panic!("no field {name}"));
        ty = field.ty;
        found = Some(field);
    }
    found.unwrap()
}

#[test]
fn every_listed_group_is_there() {
    let schema = Schema::builtin();
    let kinds = [
        ("", "v1", "Pod"),
        (
            "admissionregistration.k8s.io",
            "v1",
            "ValidatingWebhookConfiguration",
        ),
        ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "v1", "APIService"),
        ("apps", "v1", "Deployment"),
        ("authentication.k8s.io", "v1", "TokenReview"),
        ("authorization.k8s.io", "v1", "SelfSubjectAccessReview"),
        ("autoscaling", "v1", "Scale"),
        ("autoscaling", "v2", "HorizontalPodAutoscaler"),
        ("batch", "v1", "CronJob"),
        ("certificates.k8s.io", "v1", "CertificateSigningRequest"),
        ("coordination.k8s.io", "v1", "Lease"),
        ("discovery.k8s.io", "v1", "EndpointSlice"),
        ("events.k8s.io", "v1", "Event"),
        ("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema"),
        ("networking.k8s.io", "v1", "Ingress"),
        ("node.k8s.io", "v1", "RuntimeClass"),
        ("policy", "v1", "PodDisruptionBudget"),
        ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"),
        ("scheduling.k8s.io", "v1", "PriorityClass"),
        ("storage.k8s.io", "v1", "StorageClass"),
        ("", "v1", "Status"),
        ("apps", "v1", "DeleteOptions"),
    ];
    for (group, version, kind) in kinds {
        assert!(
            schema.kind(group, version, kind).is_some(),
            "{group}/{version} {kind}"
        );
    }
}

#[test]
fn every_field_refers_to_a_type_that_was_filled_in() {
    let schema = Schema::builtin();
    for ty in &schema.types {
        if let Shape::Struct(fields) = &ty.shape {
            assert!(
                fields
                    .fields
                    .iter()
                    .all(|field| (field.ty.0 as usize) < schema.types.len()),
                "{}",
                ty.name
            );
            assert!(fields.fields.is_sorted_by(|a, b| a.name < b.name), "{}", ty.name);
        }
    }
}

#[test]
fn lists_know_their_keys_and_patch_strategies() {
    let schema = Schema::builtin();
    let deployment = schema.kind("apps", "v1", "Deployment").unwrap();
    let containers = field(&schema, deployment, &["spec", "template", "spec", "containers"]);
    assert!(containers.required && containers.strategy.merge && !containers.strategy.retain_keys);
    let Shape::List(list) = &schema.get(containers.ty).shape else {
        panic!("no list")
    };
    assert_eq!(
        (&list.relation, list.merge_key.as_str()),
        (&Relation::Keys(vec!["name".into()]), "name")
    );

    let ports = field(
        &schema,
        deployment,
        &["spec", "template", "spec", "containers", "ports"],
    );
    let Shape::List(list) = &schema.get(ports.ty).shape else {
        panic!("no list")
    };
    assert_eq!(
        list.relation,
        Relation::Keys(vec!["containerPort".into(), "protocol".into()])
    );
    assert_eq!(list.merge_key, "containerPort");
    let protocol = field(
        &schema,
        deployment,
        &["spec", "template", "spec", "containers", "ports", "protocol"],
    );
    assert_eq!(protocol.default, Some(value!("TCP")));
    assert_eq!(schema.get(protocol.ty).values, ["SCTP", "TCP", "UDP"]);

    let volumes = field(&schema, deployment, &["spec", "template", "spec", "volumes"]);
    assert!(volumes.strategy.merge && volumes.strategy.retain_keys);
    let finalizers = field(&schema, deployment, &["metadata", "finalizers"]);
    let Shape::List(list) = &schema.get(finalizers.ty).shape else {
        panic!("no list")
    };
    assert_eq!(list.relation, Relation::Set);
}

#[test]
fn types_that_openapi_leaves_open_are_known_by_name() {
    let schema = Schema::builtin();
    let shape = |name: &str| &schema.get(schema.named(name).unwrap()).shape;
    assert!(matches!(
        shape("io.k8s.apimachinery.pkg.api.resource.Quantity"),
        Shape::Scalar(Scalar::Quantity)
    ));
    assert!(matches!(
        shape("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
        Shape::Scalar(Scalar::IntOrString)
    ));
    assert!(matches!(
        shape("io.k8s.apimachinery.pkg.runtime.RawExtension"),
        Shape::Atomic
    ));
    assert!(matches!(
        shape("io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"),
        Shape::Map { atomic: false, .. }
    ));
    let json_schema = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray";
    assert!(matches!(shape(json_schema), Shape::Deduced));
    let time = schema.get(
        schema
            .named("io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime")
            .unwrap(),
    );
    assert!(matches!(time.shape, Shape::Scalar(Scalar::String)));
    assert_eq!(time.format, "date-time");
}

#[test]
fn a_reference_may_loosen_an_atomic_type() {
    let schema = Schema::builtin();
    let volume = schema.kind("", "v1", "PersistentVolume").unwrap();
    let claim = field(&schema, volume, &["spec", "claimRef"]);
    let ty = schema.get(claim.ty);
    assert_eq!(ty.name, "io.k8s.api.core.v1.ObjectReference");
    assert_ne!(schema.named(&ty.name), Some(claim.ty));
    let Shape::Struct(fields) = &ty.shape else {
        panic!("no struct")
    };
    assert!(!fields.atomic);
    let budget = schema.kind("policy", "v1", "PodDisruptionBudget").unwrap();
    assert!(field(&schema, budget, &["spec", "selector"]).strategy.replace);
}
