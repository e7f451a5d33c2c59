//! Why nothing was decrypted.

/// Why nothing was decrypted. No text of it holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name of the key, or what belongs to it, says nothing that can be used.
    #[error("{0}")]
    Key(String),
    /// What is to be decrypted is not encoded as the service does it.
    #[error("the encrypted data key is not {0}")]
    Ciphertext(&'static str),
    /// The server did not answer.
    #[error("'{endpoint}' cannot be reached{}", crate::http::remedy(.source))]
    Request {
        /// The server.
        endpoint: String,
        /// Why not.
        #[source]
        source: reqwest::Error,
    },
    /// The server said no.
    #[error("'{endpoint}' does not decrypt: {why}")]
    Refused {
        /// The server.
        endpoint: String,
        /// What it said.
        why: String,
    },
    /// The answer cannot be read.
    #[error("'{endpoint}' answered with something that is no {what}")]
    Answer {
        /// The server.
        endpoint: String,
        /// What it should be.
        what: &'static str,
    },
}
