//! Values of a release that stay when it is upgraded, as `helm upgrade --reuse-values` has it.

use model::Map;

use super::Record;
use crate::chart::Chart;
use crate::values::coalesce::{Coalesce, Mismatch, Mode};
use crate::version::HelmVersion;

impl Record {
    /// New values over those that this release was given. A `null` takes away one of these.
    pub fn values_under(&self, mut new: Map, version: HelmVersion, warnings: &mut Vec<String>) -> Map {
        let given = self.config.clone().unwrap_or_default();
        Coalesce { version, warnings }.tables(&mut new, given, "", Mode::Coalesce);
        new
    }

    /// All values that this release was made of: those that it was given, over what its chart says. They are what a new chart says to who keeps
    /// values, so that what was a default stays, and what is a new one does not count.
    ///
    /// # Errors
    /// Where they do not go together.
    pub fn all_values(&self, version: HelmVersion, warnings: &mut Vec<String>) -> Result<Map, Mismatch> {
        let stored = self.chart.as_ref();
        let chart = Chart {
            metadata: self.metadata().cloned().unwrap_or_default(),
            defaults: stored.and_then(|chart| chart.values.clone()).unwrap_or_default(),
            ..Chart::default()
        };
        let given = self.config.clone().unwrap_or_default();
        Coalesce { version, warnings }.values(&chart, given, Mode::Coalesce)
    }
}

#[cfg(test)]
mod tests {
    use model::{Value, value};

    use super::*;
    use crate::record::StoredChart;

    fn map(value: Value) -> Map {
        match value {
            Value::Object(map) => map,
            other => panic!("{other:?} is no map"),
        }
    }

    /// Checked against `reuseValues` of Helm 4.2.
    #[test]
    fn new_values_are_over_those_that_were_given_and_the_old_chart_says_the_rest() {
        let record = Record {
            chart: Some(StoredChart {
                values: Some(map(value!({ "a": "old default", "b": { "c": 1.0, "d": 2.0 } }))),
                ..StoredChart::default()
            }),
            config: Some(map(value!({ "b": { "c": 3.0 }, "e": "given", "f": "given" }))),
            ..Record::default()
        };
        let mut warnings = Vec::new();
        let new = map(value!({ "b": { "g": 4.0 }, "e": "new", "f": null }));
        assert_eq!(
            record.values_under(new, HelmVersion::V4, &mut warnings),
            map(value!({ "b": { "g": 4.0, "c": 3.0 }, "e": "new" }))
        );
        assert_eq!(
            record.all_values(HelmVersion::V4, &mut warnings).unwrap(),
            map(value!({ "b": { "c": 3.0, "d": 2.0 }, "e": "given", "f": "given", "a": "old default" }))
        );
        assert_eq!(warnings, [""; 0]);
    }
}
