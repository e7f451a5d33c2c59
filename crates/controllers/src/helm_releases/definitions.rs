//! What has to be there before a release: the definitions in `crds/`, and its namespace.

use std::collections::HashSet;

use api::helm::CrdsPolicy;
use bytes::Bytes;
use engine::cluster::Apply;
use engine::plan::{Apply as Written, Awaited, Objects, Plan, Purpose, Stage, Step, Until, Wait};
use helm::chart::Chart;
use helm::crds::{self, CrdPolicy};
use helm::ownership::origin_labels;
use helm::record::Record;
use helm::{HelmVersion, dependencies};
use kube::ResourceExt;
use model::{Map, ObjectKey, Value, value};

use super::action::Release;
use super::{FIELD_MANAGER, target};

/// How long definitions may take until they are served.
const SERVED: u64 = 60;

impl Release<'_, '_> {
    /// Makes and changes the definitions in `crds/` of a chart and of those below it that take part, as far as is asked for, and waits until they are
    /// served.
    pub(super) async fn apply_definitions(
        &mut self,
        policy: Option<&CrdsPolicy>,
        chart: &Chart,
        values: &Map,
        seconds: u64,
    ) -> Result<(), String> {
        let failed = |why: String| format!("failed to apply CustomResourceDefinitions: {why}");
        let policy = CrdPolicy::parse(policy.map_or("", CrdsPolicy::as_str))
            .map_err(|error| failed(error.to_string()))?;
        if policy == CrdPolicy::Skip {
            return Ok(());
        }
        let files = files(chart, values).map_err(failed)?;
        if files.is_empty() {
            return Ok(());
        }
        let object = self.run.object;
        let origin = origin_labels(&target::own_namespace(object), &object.name_any());
        let all = crds::choose(CrdPolicy::CreateReplace, &files, &origin, |_| false).map_err(failed)?;
        let mut there = HashSet::new();
        for definition in &all.apply {
            let key = ObjectKey::of(definition);
            if self.site.read(definition, &key).await.map_err(failed)?.is_some() {
                there.insert(key.name.to_string());
            }
        }
        let chosen = crds::choose(policy, &files, &origin, |name| there.contains(name)).map_err(failed)?;
        if chosen.apply.is_empty() {
            return Ok(());
        }
        let (mut plan, mut objects) = (Plan::default(), Objects::default());
        plan.stages
            .push(stage(&chosen.apply, seconds.min(SERVED), &mut objects));
        let report = self.site.carry_out(plan, objects, self.run.worker).await;
        self.log.extend(report.changes());
        match report.errors.is_empty() {
            true => Ok(()),
            false => Err(failed(report.errors.join("\n"))),
        }
    }

    /// Makes the namespace of the release.
    pub(super) async fn create_namespace(&mut self) -> Result<(), String> {
        let name = target::namespace(self.run.object);
        let namespace = value!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": { "name": (name.clone()), "labels": { "name": (name.clone()) } },
        });
        let key = ObjectKey::of(&namespace);
        if self.site.read(&namespace, &key).await?.is_some() {
            return Ok(());
        }
        if self.site.rehearsed.is_some() {
            let mut objects = Objects::default();
            let plan = Plan {
                stages: vec![creation(&namespace, &mut objects)],
                ..Plan::default()
            };
            self.site.carry_out(plan, objects, self.run.worker).await;
            return Ok(());
        }
        let cluster = self.site.cluster();
        let failed = |error: engine::cluster::Error| format!("failed to create namespace {name}: {error}");
        let resource = cluster.resource("", "v1", "Namespace").await.map_err(failed)?;
        let applied = cluster
            .apply(&resource, &namespace, &Apply::by(FIELD_MANAGER))
            .await;
        applied.map(drop).map_err(failed)
    }
}

/// The files in `crds/` of a chart and of those below it that take part with these values.
///
/// # Errors
/// Why that cannot be told.
pub(super) fn files(chart: &Chart, values: &Map) -> Result<Vec<(String, Bytes)>, String> {
    let all = chart.crds();
    if all.is_empty() || chart.dependencies.is_empty() {
        return Ok(all);
    }
    let mut chart = chart.clone();
    let processed = dependencies::process(&mut chart, values, HelmVersion::V4, &mut Vec::new());
    processed.map_err(|error| format!("failed to process chart dependencies: {error}"))?;
    Ok(chart.crds())
}

/// The same of a release that was made of a chart: with the defaults that it was rendered with.
pub(super) fn files_of(chart: &Chart, record: &Record) -> Result<Vec<(String, Bytes)>, String> {
    let mut chart = chart.clone();
    if let Some(defaults) = record.chart.as_ref().and_then(|stored| stored.values.clone()) {
        chart.defaults = defaults;
    }
    files(&chart, &record.config.clone().unwrap_or_default())
}

/// What makes the namespace of a release.
fn creation(namespace: &Value, objects: &mut Objects) -> Stage {
    let mut stage = Stage::new("namespace", Purpose::Apply);
    stage
        .steps
        .push(step(namespace, "the release is to be in it", objects));
    stage
}

fn step(object: &Value, reason: &str, objects: &mut Objects) -> Step {
    Step {
        key: ObjectKey::of(object),
        api_version: object.str_at(&["apiVersion"]).to_owned(),
        action: engine::plan::Action::Create,
        reason: reason.to_owned(),
        batch: 0,
        object: Some(objects.push(object.clone().into())),
        apply: Written::default(),
        fields: Vec::new(),
        hook: None,
    }
}

fn stage(definitions: &[Value], seconds: u64, objects: &mut Objects) -> Stage {
    let mut stage = Stage::new("definitions", Purpose::Apply);
    let mut awaited = Vec::new();
    for definition in definitions {
        let key = ObjectKey::of(definition);
        stage
            .steps
            .push(step(definition, "the chart brings it along", objects));
        awaited.push(Awaited {
            key,
            until: Until::Healthy,
            may_vanish: false,
            target: None,
        });
    }
    stage.wait = Some(Wait {
        objects: awaited,
        seconds,
        fail_fast: false,
        optional: false,
        why: "definitions to be served".to_owned(),
    });
    stage
}
