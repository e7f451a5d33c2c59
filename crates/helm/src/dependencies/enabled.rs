//! Aliases, conditions and tags.

use model::semver::{Constraint, Version};
use model::{Map, Value};

use crate::chart::{Chart, Dependency};
use crate::values::coalesce::{Coalesce, Mismatch, Mode};
use crate::values::path;

/// Takes out the charts that are turned off, here and below. Conditions of a chart below are looked up in the values of the
/// top chart, at the path of the chart. Charts below one that declares no dependencies are left as they are.
pub(super) fn choose(
    chart: &mut Chart,
    values: &Map,
    place: &str,
    coalesce: &mut Coalesce<'_>,
) -> Result<(), Mismatch> {
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    apply_aliases(chart);
    let values = coalesce.values(chart, values.clone(), Mode::Coalesce)?;
    let mut declared: Vec<Dependency> = std::mem::take(&mut chart.metadata.dependencies)
        .into_iter()
        .flatten()
        .collect();
    for dependency in &mut declared {
        dependency.enabled = by_tags(dependency, &values, coalesce.warnings);
        if let Some(enabled) = by_condition(dependency, &values, place, coalesce.warnings) {
            dependency.enabled = enabled;
        }
    }
    let is_off = |name: &str| {
        declared
            .iter()
            .any(|dependency| dependency.name == name && !dependency.enabled)
    };
    chart.dependencies.retain(|below| !is_off(&below.metadata.name));
    let kept: Vec<Dependency> = declared
        .iter()
        .filter(|dependency| !is_off(&dependency.name))
        .cloned()
        .collect();
    chart.metadata.dependencies = kept.into_iter().map(Some).collect();
    for below in &mut chart.dependencies {
        let place = format!("{place}{}.", below.metadata.name);
        choose(below, &values, &place, coalesce)?;
    }
    Ok(())
}

/// Puts the charts in the order in which they are declared, each as often as it is, under the names it has there. Those that
/// are not declared come first.
fn apply_aliases(chart: &mut Chart) {
    let all = std::mem::take(&mut chart.dependencies);
    let fits = |below: &Chart, dependency: &Dependency| {
        below.metadata.name == dependency.name && in_range(&dependency.version, &below.metadata.version)
    };
    let declared = chart.metadata.dependencies.iter_mut().flatten();
    let mut chosen = Vec::new();
    for dependency in declared {
        if let Some(below) = all.iter().find(|below| fits(below, dependency)) {
            let mut below = below.clone();
            if !dependency.alias.is_empty() {
                below.metadata.name.clone_from(&dependency.alias);
            }
            chosen.push((below, dependency.name.clone(), dependency.version.clone()));
        }
        if !dependency.alias.is_empty() {
            dependency.name.clone_from(&dependency.alias);
        }
    }
    let is_declared = |below: &Chart| {
        chosen
            .iter()
            .any(|(_, name, range)| *name == below.metadata.name && in_range(range, &below.metadata.version))
    };
    let mut kept: Vec<Chart> = all.iter().filter(|below| !is_declared(below)).cloned().collect();
    kept.extend(chosen.into_iter().map(|(below, _, _)| below));
    chart.dependencies = kept;
}

/// Whether a version is in a range; neither is where one of them is no such thing.
pub(crate) fn in_range(range: &str, version: &str) -> bool {
    let range = range.parse::<Constraint>();
    match (range, Version::parse(version)) {
        (Ok(range), Ok(version)) => range.matches(&version),
        _ => false,
    }
}

/// On, unless its tags say otherwise: one that is on outweighs those that are off.
fn by_tags(dependency: &Dependency, values: &Map, warnings: &mut Vec<String>) -> bool {
    let Some(tags) = path::table(values, "tags") else {
        return true;
    };
    let (mut on, mut off) = (false, false);
    for tag in &dependency.tags {
        match tags.get(tag) {
            Some(Value::Bool(true)) => on = true,
            Some(Value::Bool(false)) => off = true,
            Some(_) => warnings.push(format!(
                "Warning: Tag '{tag}' for chart {} returned non-bool value",
                dependency.name
            )),
            None => {}
        }
    }
    on || !off
}

/// What the first path of the condition that leads to a boolean says.
fn by_condition(
    dependency: &Dependency,
    values: &Map,
    place: &str,
    warnings: &mut Vec<String>,
) -> Option<bool> {
    for condition in dependency.condition.trim().split(',') {
        if condition.is_empty() {
            continue;
        }
        match path::scalar(values, &format!("{place}{condition}")) {
            Some(Value::Bool(flag)) => return Some(*flag),
            Some(_) => warnings.push(format!(
                "Warning: Condition path '{condition}' for chart {} returned non-bool value",
                dependency.name
            )),
            None => {}
        }
    }
    None
}
