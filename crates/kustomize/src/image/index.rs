//! Which entries mean an image, found without asking each of them.

use std::collections::BTreeMap;

use model::regexp::Regexp;

use super::pattern::{Pattern, is_tag_and_digest};

/// The names of all entries, taken apart by characters, and the entries that are expressions.
pub(super) struct Index {
    nodes: Vec<Node>,
    expressions: Vec<(usize, Regexp)>,
}

#[derive(Default)]
struct Node {
    next: BTreeMap<char, usize>,
    /// The entries whose names end here, in order.
    entries: Vec<usize>,
}

impl Index {
    pub(super) fn new(patterns: impl IntoIterator<Item = Pattern>) -> Index {
        let mut index = Index {
            nodes: vec![Node::default()],
            expressions: Vec::new(),
        };
        for (entry, pattern) in patterns.into_iter().enumerate() {
            match pattern {
                Pattern::Name(name) => index.add(&name, entry),
                Pattern::Expression(regexp) => index.expressions.push((entry, regexp)),
            }
        }
        index
    }

    fn add(&mut self, name: &str, entry: usize) {
        let mut at = 0;
        for char in name.chars() {
            let new = self.nodes.len();
            at = *self.nodes[at].next.entry(char).or_insert(new);
            if at == new {
                self.nodes.push(Node::default());
            }
        }
        self.nodes[at].entries.push(entry);
    }

    /// The first entry from `from` on that means an image.
    pub(super) fn next(&self, image: &str, from: usize) -> Option<usize> {
        let named = self.named(image, from);
        let mut expressions = self
            .expressions
            .iter()
            .skip_while(|(entry, _)| *entry < from)
            .take_while(|(entry, _)| named.is_none_or(|named| *entry < named));
        let expression = expressions.find(|(_, regexp)| regexp.is_match(image));
        expression.map(|(entry, _)| *entry).or(named)
    }

    fn named(&self, image: &str, from: usize) -> Option<usize> {
        let mut found: Option<usize> = None;
        let mut reached = vec![0];
        let mut rest = image.chars();
        loop {
            let ends = reached.iter().filter_map(|&at: &usize| {
                let entries = &self.nodes[at].entries;
                entries
                    .get(entries.partition_point(|entry| *entry < from))
                    .copied()
            });
            if let Some(entry) = ends.min()
                && found.is_none_or(|found| entry < found)
                && is_tag_and_digest(rest.as_str())
            {
                found = Some(entry);
            }
            let Some(char) = rest.next() else { return found };
            let follow = |at: usize, char: char| self.nodes[at].next.get(&char).copied();
            reached = reached
                .into_iter()
                // A point in a name is any character but the end of a line.
                .flat_map(|at| {
                    [
                        follow(at, char),
                        follow(at, '.').filter(|_| !"\n.".contains(char)),
                    ]
                })
                .flatten()
                .collect();
            if reached.is_empty() {
                return found;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(names: &[&str], image: &str) -> Vec<usize> {
        let index = Index::new(names.iter().map(|name| Pattern::new(name).unwrap()));
        let mut found = Vec::new();
        while let Some(entry) = index.next(image, found.last().map_or(0, |last| last + 1)) {
            found.push(entry);
        }
        found
    }

    #[test]
    fn names_fit_with_and_without_tags_and_digests() {
        let fits = |name: &str, image: &str| {
            let found = !all(&["other", name, "x.*y"], image).is_empty();
            let regexp = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
            assert_eq!(
                found,
                Regexp::new(&regexp).unwrap().is_match(image),
                "{name} {image}"
            );
            found
        };
        for image in [
            "nginx",
            "nginx:",
            "nginx:1.2",
            "nginx@sha256:ab",
            "nginx:{v}@sha256:ab",
        ] {
            assert!(fits("nginx", image), "{image}");
        }
        for image in [
            "nginx2",
            "my/nginx",
            "nginx:1:2",
            "nginx@md5:a",
            "nginx/x",
            "nginx:1@sha256:a@b",
            "",
        ] {
            assert!(!fits("nginx", image), "{image}");
        }
        assert!(fits("a.b/c", "axb/c:1") && fits("a.b/c", "a.b/c") && !fits("a.b", "a\nb"));
        assert!(fits("host:5000/x", "host:5000/x") && fits("ng.*x", "nginx:1") && fits("", ":1"));
    }

    #[test]
    fn all_entries_that_fit_are_found_in_order() {
        let names = ["app", "a.p", "a*p+", "app:1", "ap", "app", "..."];
        assert_eq!(all(&names, "app:1"), [0, 1, 2, 3, 5, 6]);
        assert_eq!(all(&names, "ap"), [2, 4]);
    }

    #[test]
    fn of_very_many_names_only_those_that_fit_are_looked_at() {
        let names: Vec<String> = (0..1000)
            .map(|number| format!("registry.example.com/app{number}"))
            .collect();
        let index = Index::new(names.iter().map(|name| Pattern::new(name).unwrap()));
        let shared = "registry.example.com/app".len();
        assert!(
            index.nodes.len() <= 1 + shared + 1110,
            "names share what they have in common"
        );
        assert_eq!(index.next("registry.example.com/app777:v1", 0), Some(777));
        assert_eq!(index.next("registry.example.com/app777:v1", 778), None);
    }
}
