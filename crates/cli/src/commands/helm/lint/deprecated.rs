//! Versions of APIs that Kubernetes gives up.

use helm::capabilities::KubeVersion;

/// What the types of Kubernetes 1.36 say of themselves: version, kind, the minor versions since which it should not be used and is gone,
/// and what to use instead.
const KNOWN: &str = include_str!("deprecated.tsv");

/// What is to be said of an object in a version of Kubernetes, if anything.
pub(super) fn remark(api_version: &str, kind: &str, kubernetes: &KubeVersion) -> Option<String> {
    let of = |line: &'static str| {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        (next() == api_version && next() == kind).then(|| [next(), next(), next()])
    };
    let [since, until, instead] = KNOWN.lines().find_map(of)?;
    let number = |text: &str| text.parse::<u32>().ok();
    if (number(&kubernetes.major)?, number(&kubernetes.minor)?) < (1, number(since)?) {
        return None;
    }
    let mut text = format!("{api_version} {kind} is deprecated in v1.{since}+");
    if until != "-" {
        text += &format!(", unavailable in v1.{until}+");
    }
    if instead != "-" {
        text += &format!("; use {instead}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_remarked_from_the_one_on_that_gives_them_up() {
        let remark = |version: &str| {
            let kubernetes = KubeVersion::parse(version).unwrap();
            remark("policy/v1beta1", "PodDisruptionBudget", &kubernetes)
        };
        let text = "policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+; use policy/v1 PodDisruptionBudget";
        assert_eq!(remark("1.30").as_deref(), Some(text));
        assert_eq!(remark("1.20"), None);
    }
}
