//! Problems of several objects as one text.

/// How many objects are named of those that have the same problem.
const NAMED: usize = 3;

/// All problems, each told once: where several objects have the same, such as a cluster that does not answer, they are named before it.
pub(super) fn together(problems: &[String]) -> String {
    let mut told: Vec<(Vec<&str>, &str)> = Vec::new();
    for problem in problems {
        // The name of an object has no space in it; what is about none is as good as a name alone.
        let (name, what) = problem.split_once(' ').unwrap_or((problem, ""));
        match told
            .iter_mut()
            .find(|(_, known)| *known == what && !what.is_empty())
        {
            Some((names, _)) => names.push(name),
            None => told.push((vec![name], what)),
        }
    }
    let texts = told.iter().map(|(names, what)| {
        let shown = names.get(..NAMED).unwrap_or(names).join(", ");
        let more = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        match *what {
            "" => shown,
            what => format!("{shown}{more} {what}"),
        }
    });
    texts.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_problem_is_told_once() {
        let told =
            |problems: &[&str]| together(&problems.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
        assert_eq!(told(&[]), "");
        assert_eq!(
            told(&["A/a/b dry-run failed: no", "B/a/b dry-run failed: never"]),
            "A/a/b dry-run failed: no; B/a/b dry-run failed: never"
        );
        assert_eq!(told(&["A/a/b is gone", "B/a/b is gone"]), "A/a/b, B/a/b is gone");
        let many = ["a x y", "b x y", "c x y", "d z", "e x y", "f x y"];
        assert_eq!(told(&many), "a, b, c and 2 more x y; d z");
        assert_eq!(told(&["broken", "broken"]), "broken; broken");
    }
}
