//! Patterns of targets. Whoever writes them need not be who runs the process, so that all of one object together may take so much
//! memory only.

use model::regexp::{Problem, Regexp};

use super::Error;

/// The memory that all compiled patterns of an object may take, in bytes. Those that people write take some kilobytes each.
const BUDGET: usize = 1 << 20;

/// The sizes that a pattern is tried with. It is charged for the first that suffices.
const SIZES: [usize; 6] = [1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18];

/// The longest pattern, in bytes. Parsing takes memory too, before the size is known.
const LONGEST: usize = 1 << 12;

/// The memory that is left for the patterns of an object.
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Budget(BUDGET)
    }
}

/// What a text has to be.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    /// Just this. Most patterns are nothing else, and need not be compiled.
    Text(Box<str>),
    Expression(Regexp),
}

impl Pattern {
    /// Reads the field `what` of the target of rule `at`; `None` fits everything.
    pub(super) fn new(
        at: usize,
        what: &'static str,
        text: &str,
        budget: &mut Budget,
    ) -> Result<Option<Pattern>, Error> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if text.is_empty() {
            return Ok(None);
        }
        if text.bytes().all(is_plain) {
            return Ok(Some(Pattern::Text(text.into())));
        }
        let whole = format!("^(?:{text})$");
        let sizes = SIZES.iter().filter(|_| text.len() <= LONGEST);
        for &size in sizes.take_while(|size| **size <= budget.0) {
            match Regexp::with_size(&whole, size) {
                Ok(regexp) => {
                    budget.0 -= size;
                    return Ok(Some(Pattern::Expression(regexp)));
                }
                Err(error) if error.problem() == Problem::Large => {}
                Err(source) => {
                    return Err(Error::Pattern {
                        what,
                        text: text.to_owned(),
                        source,
                    });
                }
            }
        }
        Err(Error::TooLarge { at, what })
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        match self {
            Pattern::Text(wanted) => **wanted == *text,
            Pattern::Expression(regexp) => regexp.is_match(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{IgnoreRule, IgnoreRules, MOST_RULES, Target};
    use super::*;

    fn rule(name: &str) -> IgnoreRule {
        IgnoreRule {
            target: Some(Target {
                kind: "Deployment".to_owned(),
                name: name.to_owned(),
                ..Target::default()
            }),
            paths: vec!["/spec/replicas".to_owned()],
            ..IgnoreRule::default()
        }
    }

    fn problem(rules: &[IgnoreRule]) -> String {
        IgnoreRules::new(rules).map_or_else(|error| error.to_string(), |_| String::new())
    }

    /// Each of these was compiled to almost 10 MiB.
    #[test]
    fn patterns_of_an_object_share_a_budget() {
        let start = std::time::Instant::now();
        let large = rule(r"\pL{200}");
        let told = problem(&vec![large; 200]);
        assert!(
            told.contains("[0].target.name is the first beyond that"),
            "{told}"
        );
        // Each of these fits by itself.
        let told = problem(&vec![rule(r"[a-z]{200}x?"); 200]);
        assert!(told.contains("].target.name is the first beyond that"), "{told}");
        let told = problem(&[rule(&"(a|b)".repeat(1_000))]);
        assert!(
            told.contains("[0].target.name is the first beyond that"),
            "{told}"
        );
        assert!(start.elapsed() < std::time::Duration::from_secs(10));
    }

    #[test]
    fn usual_patterns_fit() {
        assert_eq!(problem(&vec![rule("app"); MOST_RULES]), "");
        assert_eq!(problem(&vec![rule("app-.*"); 100]), "");
        assert_eq!(problem(&[rule("(web|api|worker)-[0-9]+")]), "");
        let told = problem(&vec![rule("app"); MOST_RULES + 1]);
        assert!(told.starts_with("there are 1001 ignore rules"), "{told}");
    }

    #[test]
    fn a_plain_text_is_the_whole() {
        let mut budget = Budget::default();
        let mut fits = |pattern: &str, text: &str| {
            let pattern = Pattern::new(0, "name", pattern, &mut budget).unwrap();
            pattern.is_none_or(|pattern| pattern.fits(text))
        };
        assert!(fits("app-1", "app-1") && !fits("app-1", "app-12") && !fits("App", "app"));
        assert!(fits("app.1", "app-1") && !fits("app.1", "app-12"));
        assert!(fits("", "anything"));
    }
}
