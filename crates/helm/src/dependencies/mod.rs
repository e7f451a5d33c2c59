//! Which of the charts below take part, under which names, and what their parents see of their values.
//!
//! Done once for a chart and the values that were given, before anything is rendered: aliases are applied, charts that a
//! condition or tag turns off are taken out, and `import-values` become defaults of the parent.

mod enabled;
mod import;

pub(crate) use enabled::in_range;
use model::Map;

use crate::chart::Chart;
use crate::values::coalesce::{Coalesce, Mismatch};
use crate::version::HelmVersion;

/// Sorts out the charts below.
pub fn process(
    chart: &mut Chart,
    given: &Map,
    version: HelmVersion,
    warnings: &mut Vec<String>,
) -> Result<(), Mismatch> {
    let mut coalesce = Coalesce { version, warnings };
    enabled::choose(chart, given, "", &mut coalesce)?;
    import::import(chart, &mut coalesce)
}

/// The names of dependencies that `Chart.yaml` declares and `charts/` lacks.
pub fn missing(chart: &Chart) -> Vec<&str> {
    let declared = chart.metadata.dependencies.iter().flatten();
    declared
        .map(|dependency| dependency.name.as_str())
        .filter(|name| {
            !chart
                .dependencies
                .iter()
                .any(|below| below.metadata.name == *name)
        })
        .collect()
}
