//! The field that somebody meant who wrote another name.

/// The known name that a name resembles: one or two letters are missing, too many, wrong or swapped.
pub(crate) fn meant<'k>(written: &str, known: &[&'k str]) -> Option<&'k str> {
    let written = written.to_ascii_lowercase();
    let allowed = match written.chars().count() {
        0..=3 => return None,
        4..=6 => 1,
        _ => 2,
    };
    let distances = known
        .iter()
        .map(|name| (distance(&written, &name.to_ascii_lowercase()), *name));
    let nearest = distances.min_by_key(|(distance, _)| *distance)?;
    (nearest.0 <= allowed).then_some(nearest.1)
}

/// How many letters are to be added, left out, changed or swapped with the next to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 64;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().max(b.len()) > LONGEST {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let changed = last[j] + usize::from(letter != other);
            let mut least = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *letter == b[j - 1] && a[i - 1] == *other {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn a_name_that_is_nearly_one_that_is_known_means_it() {
        let known = ["resources", "namePrefix", "images", "patches", "vars"];
        let cases = [
            ("resource", Some("resources")),
            ("namePrefx", Some("namePrefix")),
            ("nameperfix", Some("namePrefix")),
            ("image", Some("images")),
            ("patchs", Some("patches")),
            ("var", None),
            ("unknown", None),
            ("", None),
        ];
        for (written, wanted) in cases {
            assert_eq!(meant(written, &known), wanted, "{written}");
        }
    }
}
