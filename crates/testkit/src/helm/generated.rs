//! Huge indexes, made while they are sent.

use bytes::Bytes;

use super::chart::Chart;
use super::index::entry;

/// Charts `generated-0`, `generated-1` and so on, each in versions `0.0.0`, `0.0.1` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Generated {
    pub(super) charts: usize,
    pub(super) versions: usize,
}

impl Generated {
    /// The entries, one piece for each chart.
    pub(super) fn pieces(self) -> impl Iterator<Item = Bytes> + Send {
        (0..self.charts).map(move |number| {
            let name = format!("generated-{number}");
            let mut text = format!("  {name}:\n");
            for version in 0..self.versions {
                let chart = chart(&name, &format!("0.0.{version}"));
                text.push_str(&entry(&chart, &chart.file_name(), None));
            }
            Bytes::from(text)
        })
    }

    /// The chart whose archive has this name, if it is one of these.
    pub(super) fn find(self, file_name: &str) -> Option<Chart> {
        let rest = file_name.strip_prefix("generated-")?.strip_suffix(".tgz")?;
        let (number, version) = rest.split_once("-0.0.")?;
        let is_below = |text: &str, limit: usize| text.parse::<usize>().is_ok_and(|value| value < limit);
        let known = is_below(number, self.charts) && is_below(version, self.versions);
        known.then(|| chart(&format!("generated-{number}"), &format!("0.0.{version}")))
    }
}

fn chart(name: &str, version: &str) -> Chart {
    Chart::new(name, version)
        .metadata("description", "A chart that was made to make an index large")
        .metadata("home", "https://example.com/charts")
        .metadata("appVersion", version)
}
