//! The HelmChart that is made for a release, when its template changes.

use api::source::HelmChartSpec;
use kube::ResourceExt;
use kube::api::Patch;
use serde_json::json;
use testkit::cluster::object_settled;

use super::bed::{CONFIG, Setting};

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

/// `chart`: labels and annotations that the template has no more go from the HelmChart, and those of others stay; nothing is sent where nothing has changed.
#[tokio::test]
async fn what_a_template_has_no_more_goes_from_its_helm_chart() {
    let setting = Setting::with(&FILES).await;
    let template = json!({"chart": {
        "metadata": {"labels": {"team": "a", "tier": "b"}, "annotations": {"note": "c"}},
        "spec": {
            "chart": "app", "reconcileStrategy": "Revision",
            "sourceRef": {"kind": "GitRepository", "name": "charts"},
        },
    }});
    setting.create("web", template).await;
    setting.deployed("web", 1).await;
    let (charts, name) = (
        setting.bed.other::<HelmChartSpec>(),
        format!("{}-web", setting.bed.namespace),
    );
    let by_hand = json!({"metadata": {"labels": {"hand": "d"}, "annotations": {"hand": "d"}}});
    let by_hand = Patch::Merge(by_hand);
    charts.patch(&name, &Default::default(), &by_hand).await.unwrap();
    let less = json!({"chart": {"metadata": {"labels": {"team": null}, "annotations": null}}});
    setting.change("web", less).await;
    let settled = object_settled(charts, &name, testkit::DEADLINE, |chart| {
        let chart = chart.ok_or("it is not there")?;
        let keys = (
            chart.labels().keys().map(String::as_str).collect::<Vec<_>>(),
            chart.annotations().keys().map(String::as_str).collect::<Vec<_>>(),
        );
        let own = ["helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"];
        let labels = [&["hand"], &own[..], &["tier"]].concat();
        match keys == (labels, vec!["hand"]) {
            true => Ok(()),
            false => Err(format!("{keys:?}")),
        }
    });
    settled.await.unwrap();
    setting.ask("web").await;
    setting.asked.forget();
    setting.ask("web").await;
    let asked = setting.asked.all();
    let of_charts = |request: &&String| request.starts_with("PATCH") && request.contains("/helmcharts/");
    assert_eq!(asked.iter().find(of_charts), None);
}
