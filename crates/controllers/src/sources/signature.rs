//! Signatures of OCI artifacts, as a spec asks for them.

use api::source::{OciVerification, VerificationProvider};
use kube::Client as Cluster;
use model::Digest;
use source::oci::{Client, Repository};
use source::verify::PublicKey;
use source::verify::cosign::{self, Identity, Keyless, Root};
use source::verify::notation::{Notation, Verdict};

use super::chain;
use super::secrets::Data;

/// Whose signatures are accepted, read and checked.
pub(super) struct Signatures {
    /// The tool, for messages.
    provider: String,
    accepted: Accepted,
}

enum Accepted {
    Keyless(Box<Keyless>),
    Keys(Vec<PublicKey>),
    Notation(Notation),
}

impl Signatures {
    /// Reads what a spec names. The error says why it cannot be used.
    pub(super) async fn read(
        cluster: &Cluster,
        root: &Root,
        namespace: &str,
        wanted: &OciVerification,
    ) -> Result<Self, String> {
        let keyless = wanted.secret_ref.is_none();
        let provider = match (&wanted.provider, keyless) {
            (VerificationProvider::Cosign, true) => "cosign keyless".to_owned(),
            (provider, _) => provider.to_string(),
        };
        let accepted = match &wanted.provider {
            VerificationProvider::Cosign if keyless => {
                let keyless = keyless_of(cluster, root, namespace, wanted).await;
                keyless.map(|keyless| Accepted::Keyless(Box::new(keyless)))
            }
            VerificationProvider::Cosign => keys_of(cluster, namespace, wanted).await.map(Accepted::Keys),
            VerificationProvider::Notation => {
                let notation = notation_of(cluster, namespace, wanted).await;
                notation.map(Accepted::Notation)
            }
            VerificationProvider::Other(_) => {
                Err("there is no such provider; it must be cosign or notation".into())
            }
        };
        match accepted {
            Ok(accepted) => Ok(Signatures { provider, accepted }),
            Err(why) => Err(refused(&provider, &why)),
        }
    }

    /// What came out: [`Verdict::Ignored`] lets an artifact pass that must not be called verified. The error says why it may
    /// not pass.
    pub(super) async fn verify(
        &self,
        client: &Client,
        repository: &Repository,
        digest: Digest,
    ) -> Result<Verdict, String> {
        let verdict = match &self.accepted {
            Accepted::Keyless(keyless) => {
                let verified = keyless.verify(client, repository, digest).await;
                verified
                    .map(|()| Verdict::Verified)
                    .map_err(|error| chain(&error))
            }
            Accepted::Keys(keys) => {
                let verified = cosign::verify_with_keys(client, repository, digest, keys).await;
                verified
                    .map(|()| Verdict::Verified)
                    .map_err(|error| chain(&error))
            }
            Accepted::Notation(notation) => {
                let now = jiff::Timestamp::now();
                let verified = notation.verify(client, repository, digest, now).await;
                verified.map_err(|error| chain(&error))
            }
        };
        verdict.map_err(|why| refused(&self.provider, &why))
    }
}

fn refused(provider: &str, why: &str) -> String {
    format!("failed to verify the signature using provider '{provider}': {why}")
}

async fn keys_of(
    cluster: &Cluster,
    namespace: &str,
    wanted: &OciVerification,
) -> Result<Vec<PublicKey>, String> {
    let name = wanted
        .secret_ref
        .as_ref()
        .map_or("", |secret| secret.name.as_str());
    let data = Data::read(cluster, namespace, name).await;
    let data = data.map_err(|error| chain(&error))?;
    let keys = cosign::keys(data.files()).map_err(|error| chain(&error))?;
    match keys.is_empty() {
        false => Ok(keys),
        true => Err(format!(
            "the Secret '{namespace}/{name}' has no key that ends with '.pub': add the public keys"
        )),
    }
}

async fn keyless_of(
    cluster: &Cluster,
    public: &Root,
    namespace: &str,
    wanted: &OciVerification,
) -> Result<Keyless, String> {
    let identities = wanted.match_oidc_identity.iter().map(|identity| Identity {
        issuer: identity.issuer.clone(),
        subject: identity.subject.clone(),
    });
    let identities: Vec<Identity> = identities.collect();
    let Some(root) = &wanted.trusted_root_secret_ref else {
        let keyless = public.keyless(&identities, jiff::Timestamp::now()).await;
        return keyless.map_err(|error| chain(&error));
    };
    let data = Data::read(cluster, namespace, &root.name).await;
    let data = data.map_err(|error| chain(&error))?;
    let json = data.need("trusted_root.json").map_err(|error| chain(&error))?;
    Keyless::with_root(json, &identities).map_err(|error| chain(&error))
}

async fn notation_of(
    cluster: &Cluster,
    namespace: &str,
    wanted: &OciVerification,
) -> Result<Notation, String> {
    let Some(secret) = &wanted.secret_ref else {
        return Err(
            "spec.verify.secretRef must name a Secret with 'trustpolicy.json' and certificates".into(),
        );
    };
    let data = Data::read(cluster, namespace, &secret.name).await;
    let data = data.map_err(|error| chain(&error))?;
    let policy = data.need("trustpolicy.json").map_err(|error| chain(&error))?;
    let certificates = data
        .files()
        .filter(|(name, _)| name.ends_with(".crt") || name.ends_with(".pem"))
        .map(|(_, content)| content);
    Notation::new(policy, certificates).map_err(|error| chain(&error))
}
