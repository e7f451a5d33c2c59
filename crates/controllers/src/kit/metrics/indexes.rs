//! How often a chart was found without a look into the index of its repository, as Flux tells it of its cache of indexes.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::text::Text;
use crate::kit::writer::Key;

/// What is counted for each HelmRepository. Clones are the same.
#[derive(Clone, Default)]
pub struct IndexLookups(Arc<Mutex<BTreeMap<Key, Lookups>>>);

#[derive(Clone, Copy, Default)]
struct Lookups {
    hits: u64,
    misses: u64,
}

impl IndexLookups {
    /// A chart was wanted of a repository whose index is one that the chart was found in before: it was not read again.
    pub fn count_hit(&self, repository: Key) {
        self.0.lock().entry(repository).or_default().hits += 1;
    }

    /// A chart was wanted, and the index was read.
    pub fn count_miss(&self, repository: Key) {
        self.0.lock().entry(repository).or_default().misses += 1;
    }

    /// The repository is gone.
    pub fn forget(&self, repository: &Key) {
        self.0.lock().remove(repository);
    }

    pub(super) fn render(&self, text: &mut Text) {
        let family = "gotk_cache_events_total";
        text.family(
            family,
            "counter",
            "Total number of cache retrieval events for a Gitops Toolkit resource reconciliation.",
        );
        for ((namespace, name), lookups) in &*self.0.lock() {
            for (event, count) in [("cache_hit", lookups.hits), ("cache_miss", lookups.misses)] {
                let labels = [("event_type", event), ("name", name), ("namespace", namespace)];
                if count > 0 {
                    text.count(family, &labels, count);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Metrics;
    use super::*;

    /// E4: the name and the labels are those of Flux, and the series of a repository disappear with it.
    #[test]
    fn lookups_are_told_by_repository() {
        let (metrics, lookups) = (Metrics::new(), IndexLookups::default());
        assert!(
            !metrics.render().contains("gotk_cache_"),
            "nobody looks into indexes"
        );
        metrics.tell_indexes(lookups.clone());
        let key = |name: &str| ("apps".to_owned(), name.to_owned());
        lookups.count_miss(key("charts"));
        lookups.count_hit(key("charts"));
        lookups.count_hit(key("charts"));
        lookups.count_miss(key("others"));
        let samples = || -> Vec<String> {
            let text = metrics.render();
            let lines = text.lines().filter(|line| line.starts_with("gotk_cache_"));
            lines.map(str::to_owned).collect()
        };
        let others = r#"gotk_cache_events_total{event_type="cache_miss",name="others",namespace="apps"} 1"#;
        let charts = [
            r#"gotk_cache_events_total{event_type="cache_hit",name="charts",namespace="apps"} 2"#,
            r#"gotk_cache_events_total{event_type="cache_miss",name="charts",namespace="apps"} 1"#,
        ];
        assert_eq!(samples(), [charts[0], charts[1], others]);
        lookups.forget(&key("charts"));
        assert_eq!(samples(), [others]);
    }
}
