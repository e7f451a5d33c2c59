//! Signatures of notation: envelopes with certificates, judged by a trust policy.
//!
//! A signature is looked at in five ways (integrity, authenticity, time, expiry, revocation), and the policy says for each
//! whether a failure is refused or only noted. The first signature that nothing is refused of decides.

mod cbor;
mod chain;
mod check;
mod cose;
mod distinguished_name;
mod envelope;
mod policy;

use model::Digest;

use crate::oci::{self, Client, Descriptor, Repository};
use chain::Certificate;
use envelope::Envelope;
use policy::{Action, Document, Statement};

const SIGNATURE: &str = "application/vnd.cncf.notary.signature";
const JWS: &str = "application/jose+json";
const COSE: &str = "application/cose";
/// No more signatures than these are tried, as Flux does.
const MOST: usize = 3;
const ENVELOPE_LIMIT: u64 = 4 << 20;

/// Why an artifact is not verified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The trust policy cannot be read.
    #[error("the trust policy cannot be used: {0}")]
    Policy(String),
    /// A certificate cannot be read.
    #[error("a certificate of the trust store cannot be read: it must be PEM or DER")]
    Certificate,
    /// No statement of the policy is about the repository.
    #[error("artifact '{0}' has no applicable trust policy")]
    NoStatement(String),
    /// There is no signature.
    #[error("no signature is associated with '{0}', make sure the artifact was signed successfully")]
    NoSignature(String),
    /// None of the signatures is good.
    #[error("signature verification failed for all the signatures associated with {reference}: {reason}")]
    Refused {
        /// The artifact.
        reference: String,
        /// Why the last of them was refused.
        reason: String,
    },
    /// The registry does not hand out the signatures.
    #[error("the signatures of '{reference}' cannot be fetched")]
    Registry {
        /// The artifact.
        reference: String,
        /// What is wrong.
        source: Box<oci::Error>,
    },
}

/// Why a trust policy document is refused.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// It is not the JSON of a trust policy.
    #[error("{0}")]
    Malformed(String),
    /// It breaks a rule.
    #[error("invalid trust policy: {0}")]
    Invalid(String),
}

/// Checks a `trustpolicy.json` by the rules of notation.
///
/// # Errors
/// Returns the first rule that the document breaks.
pub fn check_policy(json: &[u8]) -> Result<(), PolicyError> {
    let document = Document::read(json).map_err(PolicyError::Malformed)?;
    check::document(&document).map_err(PolicyError::Invalid)
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The artifact is signed by someone who is trusted.
    Verified,
    /// The policy lets the artifact pass although nobody who is trusted signed it. It must not be called verified.
    Ignored,
}

/// A trust policy with the certificates that it trusts.
#[derive(Clone, Debug)]
pub struct Notation {
    policy: Document,
    trusted: Vec<Certificate>,
}

impl Notation {
    /// Reads a `trustpolicy.json` and the certificates of all its trust stores.
    ///
    /// # Errors
    /// Where one of them cannot be read.
    pub fn new<'a>(
        trust_policy: &[u8],
        certificates: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Self, Error> {
        let mut trusted = Vec::new();
        for file in certificates {
            trusted.extend(Certificate::read_all(file).ok_or(Error::Certificate)?);
        }
        Ok(Notation {
            policy: Document::parse(trust_policy).map_err(Error::Policy)?,
            trusted,
        })
    }

    /// Judges the signatures of an artifact. `now` is when certificates must be good.
    ///
    /// # Errors
    /// Where no signature is good enough for the policy, or they cannot be fetched.
    pub async fn verify(
        &self,
        client: &Client,
        repository: &Repository,
        digest: Digest,
        now: jiff::Timestamp,
    ) -> Result<Verdict, Error> {
        let reference = repository.digest(digest).to_string();
        let name = repository.to_string();
        let statement = self
            .policy
            .statement_for(&name)
            .ok_or_else(|| Error::NoStatement(reference.clone()))?;
        if statement.skips() {
            return Ok(Verdict::Ignored);
        }
        let failed = |source: oci::Error| Error::Registry {
            reference: reference.clone(),
            source: Box::new(source),
        };
        let signatures = client
            .referrers(repository, digest, SIGNATURE)
            .await
            .map_err(failed)?;
        if signatures.is_empty() {
            return Err(Error::NoSignature(reference));
        }
        let target = client.content(&repository.digest(digest)).await.map_err(failed)?;
        let mut reason = String::new();
        for signature in signatures.iter().take(MOST) {
            let envelope = fetch(client, repository, signature).await.map_err(failed)?;
            let judged = envelope.and_then(|envelope| self.judge(&envelope, statement, &target, now));
            match judged {
                Ok(verdict) => return Ok(verdict),
                Err(refusal) => reason = refusal,
            }
        }
        if signatures.len() > MOST {
            reason.push_str(&format!(
                " (only {MOST} of {} signatures were tried)",
                signatures.len()
            ));
        }
        Err(Error::Refused { reference, reason })
    }

    fn judge(
        &self,
        envelope: &Envelope,
        statement: &Statement,
        target: &oci::Content,
        now: jiff::Timestamp,
    ) -> Result<Verdict, String> {
        let signer = chain::check(&envelope.certificates)?;
        envelope.check_signature(signer)?;
        envelope.check_target(target)?;
        let mut verdict = Verdict::Verified;
        if let Err(reason) = self.authenticity(envelope, signer, statement) {
            match statement.action("authenticity") {
                Action::Enforce => return Err(reason),
                Action::Log => verdict = Verdict::Ignored,
                Action::Skip => {}
            }
        }
        let checks = [
            ("expiry", envelope.check_expiry(now)),
            ("authenticTimestamp", envelope.check_time(now)),
            ("revocation", chain::check_revocation(&envelope.certificates)),
        ];
        for (check, result) in checks {
            match (result, statement.action(check)) {
                (Err(reason), Action::Enforce) => return Err(reason),
                (Err(reason), Action::Log) => {
                    tracing::info!(check, reason, "a signature is not as it should be")
                }
                _ => {}
            }
        }
        Ok(verdict)
    }

    /// Whether someone who is trusted signed.
    fn authenticity(
        &self,
        envelope: &Envelope,
        signer: &Certificate,
        statement: &Statement,
    ) -> Result<(), String> {
        if !statement.has_store(envelope.store_type()) {
            return Err(format!(
                "the policy has no trust store of type '{}'",
                envelope.store_type()
            ));
        }
        if !envelope
            .certificates
            .iter()
            .any(|found| self.trusted.contains(found))
        {
            return Err("no certificate of the signature is in a trust store".to_owned());
        }
        if !statement.trusts(&signer.subject()) {
            return Err(
                "the subject of the signing certificate is none of the trusted identities".to_owned(),
            );
        }
        Ok(())
    }
}

/// The envelope of a signature. The inner error is one of the signature, the outer one of the registry.
async fn fetch(
    client: &Client,
    repository: &Repository,
    signature: &Descriptor,
) -> Result<Result<Envelope, String>, oci::Error> {
    let manifest = client.described(repository, signature).await?;
    let [layer] = &manifest.layers[..] else {
        return Ok(Err("the signature's manifest must have one layer".to_owned()));
    };
    let parse = match layer.media_type.as_str() {
        JWS => Envelope::parse,
        COSE => cose::parse,
        other => return Ok(Err(format!("envelopes of type '{other}' are not known"))),
    };
    Ok(parse(&client.blob(repository, layer, ENVELOPE_LIMIT).await?))
}
