use model::event::{ObjectReference, Severity};
use model::{Event, value};

fn event() -> Event {
    let object = value!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": { "name": "apps", "namespace": "flux-system", "uid": "u-1", "resourceVersion": "7" },
    });
    Event {
        involved_object: ObjectReference::to(&object),
        severity: Severity::Info,
        timestamp: "2026-01-02T03:04:05Z".parse().unwrap(),
        message: "Applied revision: main@sha1:1".to_owned(),
        reason: "ReconciliationSucceeded".to_owned(),
        metadata: [(
            "kustomize.toolkit.fluxcd.io/revision".to_owned(),
            "main@sha1:1".to_owned(),
        )]
        .into(),
        reporting_controller: "kustomize-controller".to_owned(),
        reporting_instance: String::new(),
    }
}

#[test]
fn an_event_is_posted_with_the_fields_of_flux_in_their_order() {
    let expected = concat!(
        r#"{"involvedObject":{"kind":"Kustomization","namespace":"flux-system","name":"apps","uid":"u-1","#,
        r#""apiVersion":"kustomize.toolkit.fluxcd.io/v1","resourceVersion":"7"},"severity":"info","#,
        r#""timestamp":"2026-01-02T03:04:05Z","message":"Applied revision: main@sha1:1","#,
        r#""reason":"ReconciliationSucceeded","metadata":{"kustomize.toolkit.fluxcd.io/revision":"main@sha1:1"},"#,
        r#""reportingController":"kustomize-controller"}"#
    );
    assert_eq!(serde_json::to_string(&event()).unwrap(), expected);
    assert_eq!(serde_json::from_str::<Event>(expected).unwrap(), event());
}

#[test]
fn an_event_names_its_object() {
    let key = event().involved_object.key();
    assert_eq!(key.to_string(), "Kustomization/flux-system/apps");
    assert_eq!(key.group, "kustomize.toolkit.fluxcd.io");
}

#[test]
fn only_errors_are_warnings_in_kubernetes() {
    assert_eq!(
        [Severity::Trace, Severity::Info, Severity::Error].map(Severity::event_type),
        ["Normal", "Normal", "Warning"]
    );
}

#[test]
fn an_unknown_severity_is_refused() {
    assert!(serde_json::from_str::<Severity>("\"fatal\"").is_err());
}
