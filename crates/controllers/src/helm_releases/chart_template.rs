//! The HelmChart that is made for a release whose spec describes one.

use std::collections::BTreeMap;
use std::time::Duration;

use api::helm::{ChartTemplate, HelmRelease, HelmReleaseSpec};
use api::source::{ChartSource, ChartVerification, HelmChart, HelmChartSpec};
use api::{Object, Reason};
use helm::ownership::origin_labels;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::{Api, ResourceExt};

use super::{FIELD_MANAGER, HelmReleases, source, target};
use crate::kit::{Failure, Notice, Run, chain, named};

/// How soon a HelmChart that is being deleted is looked for again.
const GOING: Duration = Duration::from_secs(1);

/// The HelmChart of a release, by namespace and name.
pub(super) fn key(object: &HelmRelease, template: &ChartTemplate) -> (String, String) {
    let namespace = template.spec.source_ref.namespace.clone();
    let namespace = namespace.filter(|name| !name.is_empty());
    let own = target::own_namespace(object);
    let name = format!("{own}-{}", object.name_any());
    (namespace.unwrap_or(own), name)
}

impl HelmReleases {
    /// Makes or changes the HelmChart of a release, and deletes the one that it had and does not have any more.
    pub(super) async fn keep_chart(&self, run: &mut Run<'_, HelmReleaseSpec>) -> Result<(), Failure> {
        let object = run.object;
        let wanted = object
            .spec
            .chart
            .as_ref()
            .map(|template| (key(object, template), template));
        let name = wanted
            .as_ref()
            .map(|((namespace, name), _)| format!("{namespace}/{name}"));
        if run.status.helm_chart.is_some() && run.status.helm_chart != name {
            self.delete_chart(run).await?;
        }
        let Some(((namespace, chart_name), template)) = wanted else {
            return Ok(());
        };
        source::check_template(object, (&namespace, &chart_name), &self.shared.settings)?;
        let chart = chart(object, template, &namespace, &chart_name);
        let charts = named::check("name of the HelmChart", &chart_name)
            .and_then(|()| named::api::<HelmChart>(&self.shared.client, &namespace));
        let charts = charts.map_err(|error| {
            let message = format!("HelmChart '{namespace}/{chart_name}': {}", chain(&error));
            Failure::stalled(Reason::HELM_CHART_SYNC_ERR, message)
        })?;
        let live = self.sources.helm_chart(&namespace, &chart_name).await;
        if !live.as_ref().is_some_and(|live| is_as_wanted(live, &chart)) {
            let sync_error = |message| Failure::transient(Reason::HELM_CHART_SYNC_ERR, message);
            let found = charts.get_metadata_opt(&chart_name).await;
            let found = found.map_err(|error| sync_error(chain(&error)))?;
            if let Some(other) = found.and_then(|found| other_owner(found.labels(), object)) {
                return Err(sync_error(format!(
                    "HelmChart '{namespace}/{chart_name}' was made for HelmRelease '{other}': give one of both another name"
                )));
            }
            let params = PatchParams::apply(FIELD_MANAGER).force();
            let applied = charts.patch(&chart_name, &params, &Patch::Apply(&chart)).await;
            let applied = applied.map_err(|error| {
                let message = format!("failed to run server-side apply: {}", chain(&error));
                Failure::transient(Reason::HELM_CHART_SYNC_ERR, message)
            })?;
            if applied.metadata.deletion_timestamp.is_some() {
                // It is that of a release of the same name before, and can be made anew once it is gone.
                let message = format!("HelmChart '{namespace}/{chart_name}' is being deleted");
                return Err(Failure::waiting(GOING, Reason::SOURCE_NOT_READY, message));
            }
            let before = live.as_ref().map(|live| live.resource_version());
            if before != Some(applied.resource_version()) {
                run.tell(made(live.is_some(), &chart, &namespace, &chart_name));
            }
        }
        run.status.helm_chart = name;
        Ok(())
    }

    /// Deletes the HelmChart of a release. One that is of another release stays: whoever may write a status may name any.
    pub(super) async fn delete_chart(&self, run: &mut Run<'_, HelmReleaseSpec>) -> Result<(), Failure> {
        let Some(known) = run.status.helm_chart.clone() else {
            return Ok(());
        };
        let (namespace, name) = known.split_once('/').unwrap_or_default();
        source::check_template(run.object, (namespace, name), &self.shared.settings)?;
        let charts =
            named::check("name", name).and_then(|()| named::api::<HelmChart>(&self.shared.client, namespace));
        let deleted = match charts {
            Ok(charts) => delete_own(&charts, name, run.object).await,
            Err(error) => Err(error),
        };
        match deleted {
            Ok(false) => {}
            Ok(true) => run.tell(Notice::trace(
                Reason::HELM_CHART_DELETED,
                format!("deleted HelmChart '{known}'"),
            )),
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            Err(error) => {
                let message = format!("failed to delete HelmChart '{known}': {}", chain(&error));
                return Err(Failure::transient(Reason::HELM_CHART_SYNC_ERR, message));
            }
        }
        run.status.helm_chart = None;
        Ok(())
    }
}

/// The other release that a HelmChart was made for, if its labels name one. Names of releases with dashes lead to the same name.
fn other_owner(labels: &BTreeMap<String, String>, object: &HelmRelease) -> Option<String> {
    let own = origin_labels(&target::own_namespace(object), &object.name_any());
    let owners = own.map(|(key, value)| labels.get(&key).cloned().unwrap_or(value));
    let is_own = owners == [object.name_any(), target::own_namespace(object)];
    let [name, namespace] = owners;
    (!is_own).then(|| format!("{namespace}/{name}"))
}

/// Deletes a HelmChart if it is that of a release; whether it was.
async fn delete_own(charts: &Api<HelmChart>, name: &str, object: &HelmRelease) -> kube::Result<bool> {
    let Some(live) = charts.get_metadata_opt(name).await? else {
        return Ok(false);
    };
    let origin = origin_labels(&target::own_namespace(object), &object.name_any());
    if origin
        .iter()
        .any(|(key, value)| live.labels().get(key) != Some(value))
    {
        tracing::warn!(
            "HelmChart '{name}' is kept: its labels do not say that it was made for this HelmRelease"
        );
        return Ok(false);
    }
    let found = Preconditions {
        uid: live.uid(),
        resource_version: None,
    };
    let params = DeleteParams::default().preconditions(found);
    charts.delete(name, &params).await.map(|_| true)
}

fn made(was_there: bool, chart: &HelmChart, namespace: &str, name: &str) -> Notice {
    let source = &chart.spec.source_ref;
    let (reason, word) = match was_there {
        true => (Reason::HELM_CHART_CONFIGURED, "Configured"),
        false => (Reason::HELM_CHART_CREATED, "Created"),
    };
    let message = format!(
        "{word} HelmChart/{namespace}/{name} with SourceRef '{}/{namespace}/{}'",
        source.kind.as_str(),
        source.name
    );
    Notice::trace(reason, message)
}

/// The HelmChart as it is to be.
fn chart(object: &HelmRelease, template: &ChartTemplate, namespace: &str, name: &str) -> HelmChart {
    let ChartTemplate { metadata, spec } = template;
    let mut labels = metadata
        .as_ref()
        .map(|metadata| metadata.labels.clone())
        .unwrap_or_default();
    labels.extend(origin_labels(&target::own_namespace(object), &object.name_any()));
    let annotations = metadata
        .as_ref()
        .map(|metadata| metadata.annotations.clone())
        .unwrap_or_default();
    Object {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(namespace.to_owned()),
            labels: Some(labels),
            annotations: (!annotations.is_empty()).then_some(annotations),
            ..ObjectMeta::default()
        },
        spec: HelmChartSpec {
            chart: spec.chart.clone(),
            version: spec.version.clone(),
            source_ref: ChartSource {
                api_version: None,
                kind: spec.source_ref.kind.clone(),
                name: spec.source_ref.name.clone(),
            },
            interval: spec.interval.unwrap_or(object.spec.interval),
            reconcile_strategy: spec.reconcile_strategy.clone(),
            values_files: spec.values_files.clone(),
            ignore_missing_values_files: spec.ignore_missing_values_files,
            verify: spec.verify.as_ref().map(|verify| ChartVerification {
                provider: verify.provider.clone(),
                secret_ref: verify.secret_ref.clone(),
                ..ChartVerification::default()
            }),
            ..HelmChartSpec::default()
        },
        status: None,
    }
}

/// Whether the HelmChart that is there is the one that a release describes.
///
/// # Errors
/// What is to be done before its chart is there.
pub(super) fn check_current(object: &HelmRelease, live: Option<&HelmChart>) -> Result<(), String> {
    let Some(template) = &object.spec.chart else {
        return Ok(());
    };
    let (namespace, name) = key(object, template);
    match live {
        Some(live) if is_as_wanted(live, &chart(object, template, &namespace, &name)) => Ok(()),
        Some(_) => Err(format!(
            "HelmChart '{namespace}/{name}' has another spec than this release asks for: the chart has to be fetched first"
        )),
        None => Err(format!(
            "HelmChart '{namespace}/{name}' is not there: the controller makes it first"
        )),
    }
}

/// Whether a HelmChart needs no change. What others have added to it stays.
fn is_as_wanted(live: &HelmChart, wanted: &HelmChart) -> bool {
    let has = |live: &BTreeMap<String, String>, wanted: &BTreeMap<String, String>| {
        wanted.iter().all(|(key, value)| live.get(key) == Some(value))
    };
    let spec = HelmChartSpec {
        suspend: live.spec.suspend,
        ..wanted.spec.clone()
    };
    live.metadata.deletion_timestamp.is_none()
        && live.spec == spec
        && has(live.labels(), wanted.labels())
        && has(live.annotations(), wanted.annotations())
        && !has_left(live, "f:labels", wanted.labels())
        && !has_left(live, "f:annotations", wanted.annotations())
}

/// Whether a HelmChart has labels or annotations of ours that nobody wants any more.
fn has_left(live: &HelmChart, kind: &str, wanted: &BTreeMap<String, String>) -> bool {
    let applied = live.metadata.managed_fields.iter().flatten();
    let fields = applied.filter_map(|entry| entry.fields_v1.as_ref());
    let ours = fields.filter_map(|fields| fields.0.get("f:metadata")?.get(kind)?.as_object());
    let mut keys = ours.flat_map(|fields| fields.keys().filter_map(|key| key.strip_prefix("f:")));
    keys.any(|key| !wanted.contains_key(key))
}
