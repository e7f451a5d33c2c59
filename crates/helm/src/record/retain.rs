//! Which versions of a release are kept.

use super::{Record, Status};

/// The versions to delete before another one is added, so that there are `maximum` with it; all are kept with 0 or less. The newest
/// that is deployed stays, however old it is: it is what runs.
pub fn superfluous(history: &[Record], maximum: i64) -> Vec<i64> {
    let Ok(kept) = usize::try_from(maximum - 1) else {
        return Vec::new();
    };
    let mut versions: Vec<&Record> = history.iter().collect();
    versions.sort_by_key(|record| record.version);
    let deployed = versions
        .iter()
        .rfind(|record| record.info.status == Status::Deployed)
        .map(|record| record.version);
    let surplus = versions.len().saturating_sub(kept);
    let candidates = versions.iter().map(|record| record.version);
    candidates
        .filter(|version| Some(*version) != deployed)
        .take(surplus)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Info;

    fn history(statuses: &[Status]) -> Vec<Record> {
        let records = statuses.iter().zip(1..).map(|(status, version)| Record {
            version,
            info: Info {
                status: status.clone(),
                ..Info::default()
            },
            ..Record::default()
        });
        records.collect()
    }

    #[test]
    fn the_oldest_go_but_never_what_is_deployed() {
        use Status::{Deployed, Failed, Superseded};
        let grown = history(&[Superseded, Superseded, Superseded, Superseded, Deployed]);
        assert_eq!(superfluous(&grown, 5), [1]);
        assert_eq!(superfluous(&grown, 6), [0; 0]);
        assert_eq!(superfluous(&grown, 0), [0; 0]);
        assert_eq!(superfluous(&grown, 1), [1, 2, 3, 4]);
        let failing = history(&[Deployed, Failed, Failed, Failed]);
        assert_eq!(superfluous(&failing, 3), [2, 3]);
    }
}
