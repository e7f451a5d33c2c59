//! What `Chart.yaml` says that charts load with, and what it lacks.

use helm::chart::Chart;
use helm::chart::metadata::Maintainer;
use model::semver::Version;
use url::Url;

use super::{Message, Severity};

/// Looks at the metadata of a chart.
pub(super) fn check(chart: &Chart, found: &mut Vec<Message>) {
    let metadata = &chart.metadata;
    let mut add = |severity, text: String| found.push(Message::new(severity, "Chart.yaml", text));
    // Of these, as of sources, Helm tells the first.
    if let Some(problem) = metadata.maintainers.iter().find_map(problem_of) {
        add(Severity::Error, problem);
    }
    if let Some(source) = metadata.sources.iter().find(|source| !is_url(source)) {
        add(Severity::Error, format!("invalid source URL '{source}'"));
    }
    if metadata.icon.is_empty() {
        add(Severity::Info, "icon is recommended".to_owned());
    } else if !is_url(&metadata.icon) {
        add(Severity::Error, format!("invalid icon URL '{}'", metadata.icon));
    }
    let version = &metadata.api_version;
    if version != "v2" && !metadata.kind.is_empty() {
        add(
            Severity::Error,
            format!("chart type is not valid in apiVersion '{version}'. It is valid in apiVersion 'v2'"),
        );
    }
    if Version::parse_strict(&metadata.version).is_err() {
        add(
            Severity::Warning,
            format!("version '{}' is not a valid SemVerV2", metadata.version),
        );
    }
}

/// What is wrong with an entry of a maintainer, if anything.
fn problem_of(maintainer: &Option<Maintainer>) -> Option<String> {
    let Some(Maintainer { name, email, .. }) = maintainer else {
        return Some("a maintainer entry is empty".to_owned());
    };
    if name.is_empty() {
        return Some("each maintainer requires a name".to_owned());
    }
    let is_wrong = !email.is_empty() && !is_address(email);
    is_wrong.then(|| format!("invalid email '{email}' for maintainer '{name}'"))
}

/// Whether something has a scheme and says more than that.
fn is_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| !url.scheme().is_empty())
}

/// Whether something looks like an e-mail address to Helm: words between dots, `@`, and a domain of at least two parts, of which the last
/// begins and ends with a letter. Names in quotes, which hardly anyone has, are none here.
fn is_address(text: &str) -> bool {
    let is_foreign =
        |c: char| matches!(c, '\u{a0}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{ffef}');
    let is_letter = |c: char| c.is_ascii_alphabetic() || is_foreign(c);
    let is_alphanumeric = |c: char| is_letter(c) || c.is_ascii_digit();
    let is_of_word = |c: char| is_alphanumeric(c) || "!#$%&'*+-/=?^_`{|}~".contains(c);
    let Some((name, domain)) = text.split_once('@') else {
        return false;
    };
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    let Some((above, last)) = domain.rsplit_once('.') else {
        return false;
    };
    let is_inner = |c: char| is_alphanumeric(c) || "-_~".contains(c);
    name.split('.')
        .all(|word| !word.is_empty() && word.chars().all(is_of_word))
        && above.starts_with(is_alphanumeric)
        && above.ends_with(is_alphanumeric)
        && above.chars().all(|c| is_inner(c) || c == '.')
        && last.starts_with(is_letter)
        && last.ends_with(is_letter)
        && last.chars().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_that_helm_takes() {
        for good in ["a@b.example", "ü@c.d", "a.b+c@d-e.f.gh", "a@b.c.", "a@b_c.d"] {
            assert!(is_address(good), "{good}");
        }
        for bad in [
            "A B <a@b.c>",
            "a@b",
            "@b",
            "a@",
            "a b@c.d",
            "a@c..d",
            "a@.d",
            "a..b@c.d",
            ".a@b.c",
            "a@b.c1",
            "a@b.c ",
            "a@@b.c",
            "a@[1.2.3.4]",
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }
}
