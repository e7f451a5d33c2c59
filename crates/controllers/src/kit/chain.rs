//! Errors in words.

use std::error::Error;

/// An error with all its causes, in one line.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    // The API server's words are enough: kube shows its whole answer.
    if let Some(kube::Error::Api(status)) = error.downcast_ref() {
        return status.message.clone();
    }
    match error.source() {
        Some(cause) => format!("{error}: {}", chain(cause)),
        None => error.to_string(),
    }
}

/// Why something failed: the innermost causes, without the error around them, whose text repeats them.
pub(crate) fn cause(error: &(dyn Error + 'static)) -> String {
    error.source().map_or_else(|| error.to_string(), chain)
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use kube::runtime::watcher;

    use super::*;

    fn refused() -> kube::Error {
        let status = Status::failure("buckets is forbidden", "Forbidden").with_code(403);
        kube::Error::Api(Box::new(status))
    }

    #[test]
    fn what_the_cluster_refuses_is_told_in_its_words_alone() {
        assert_eq!(chain(&refused()), "buckets is forbidden");
        let around = watcher::Error::InitialListFailed(refused());
        assert_eq!(cause(&around), "buckets is forbidden");
    }

    #[test]
    fn causes_follow_what_they_cause() {
        #[derive(Debug, thiserror::Error)]
        #[error("no key")]
        struct Outer(#[source] std::io::Error);
        assert_eq!(chain(&Outer(std::io::Error::other("no file"))), "no key: no file");
        assert_eq!(cause(&std::io::Error::other("no file")), "no file");
    }
}
