//! How tokens of clouds are kept, as Flux tells it.

use source::identity::Tally;

use super::text::Text;

pub(super) fn render(tally: &Tally, text: &mut Text) {
    let name = "gotk_token_cache_events_total";
    text.family(
        name,
        "counter",
        "Total number of cache retrieval events for a Gitops Toolkit resource reconciliation.",
    );
    for (involved, events) in &tally.events {
        for (kind, count) in [("cache_hit", events.hits), ("cache_miss", events.misses)] {
            let labels = [
                ("event_type", kind),
                ("kind", &*involved.kind),
                ("name", &*involved.name),
                ("namespace", &*involved.namespace),
                ("operation", "reconcile"),
            ];
            if count > 0 {
                text.count(name, &labels, count);
            }
        }
    }
    let none: [(&str, &str); 0] = [];
    let name = "gotk_token_cached_items";
    text.family(name, "gauge", "Total number of items in the cache.");
    text.count(name, &none, tally.items as u64);
    let name = "gotk_token_cache_requests_total";
    let help = "Total number of cache requests partioned by success or failure.";
    text.family(name, "counter", help);
    for (status, count) in [("failure", tally.failures), ("success", tally.successes)] {
        if count > 0 {
            text.count(name, &[("status", status)], count);
        }
    }
    let name = "gotk_token_cache_evictions_total";
    text.family(name, "counter", "Total number of cache evictions.");
    text.count(name, &none, tally.evictions);
}

#[cfg(test)]
mod tests {
    use source::identity::{Events, Involved};

    use super::super::Metrics;
    use super::*;

    /// E4: the names and labels are those of Flux.
    #[test]
    fn tokens_are_told_by_object() {
        let metrics = Metrics::new();
        assert!(!metrics.render().contains("gotk_token_"), "nobody keeps tokens");
        metrics.tell_tokens(|| Tally {
            items: 2,
            evictions: 1,
            successes: 5,
            failures: 1,
            events: [(
                Involved::new("Bucket", "apps", "files"),
                Events { hits: 4, misses: 1 },
            )]
            .into(),
        });
        let text = metrics.render();
        let object = r#"kind="Bucket",name="files",namespace="apps",operation="reconcile""#;
        for line in [
            format!("gotk_token_cache_events_total{{event_type=\"cache_hit\",{object}}} 4\n"),
            format!("gotk_token_cache_events_total{{event_type=\"cache_miss\",{object}}} 1\n"),
            "gotk_token_cached_items 2\n".to_owned(),
            "gotk_token_cache_requests_total{status=\"success\"} 5\n".to_owned(),
            "gotk_token_cache_requests_total{status=\"failure\"} 1\n".to_owned(),
            "gotk_token_cache_evictions_total 1\n".to_owned(),
        ] {
            assert!(text.contains(&line), "{line}\n{text}");
        }
    }
}
