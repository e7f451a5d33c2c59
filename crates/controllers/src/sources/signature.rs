//! Signatures of OCI artifacts, as a spec asks for them.

use api::source::{OciVerification, VerificationProvider};
use kube::Client as Cluster;
use model::Digest;
use source::oci::{Client, Repository};
use source::verify::cosign::{self, Identity, Keyless};
use source::verify::notation::{Notation, Verdict};

use super::chain;
use super::secrets::Data;

/// What came out: [`Verdict::Ignored`] lets an artifact pass that must not be called verified. The error says why it may not
/// pass.
pub(super) async fn verify(
    cluster: &Cluster,
    namespace: &str,
    wanted: &OciVerification,
    client: &Client,
    repository: &Repository,
    digest: Digest,
) -> Result<Verdict, String> {
    let keyless = wanted.secret_ref.is_none();
    let provider = match (&wanted.provider, keyless) {
        (VerificationProvider::Cosign, true) => "cosign keyless".to_owned(),
        (provider, _) => provider.to_string(),
    };
    let failed = |why: String| format!("failed to verify the signature using provider '{provider}': {why}");
    match wanted.provider {
        VerificationProvider::Cosign if keyless => {
            let keyless = keyless_of(cluster, namespace, wanted).await.map_err(failed)?;
            let verified = keyless.verify(client, repository, digest).await;
            verified.map_err(|error| failed(chain(&error)))?;
            Ok(Verdict::Verified)
        }
        VerificationProvider::Cosign => {
            let name = wanted
                .secret_ref
                .as_ref()
                .map_or("", |secret| secret.name.as_str());
            let data = Data::read(cluster, namespace, name).await;
            let data = data.map_err(|error| failed(chain(&error)))?;
            let keys = cosign::keys(data.files()).map_err(|error| failed(chain(&error)))?;
            if keys.is_empty() {
                return Err(failed(format!(
                    "the Secret '{namespace}/{name}' has no key that ends with '.pub'"
                )));
            }
            let verified = cosign::verify_with_keys(client, repository, digest, &keys).await;
            verified.map_err(|error| failed(chain(&error)))?;
            Ok(Verdict::Verified)
        }
        VerificationProvider::Notation => {
            let notation = notation_of(cluster, namespace, wanted).await.map_err(failed)?;
            let now = jiff::Timestamp::now();
            let verified = notation.verify(client, repository, digest, now).await;
            verified.map_err(|error| failed(chain(&error)))
        }
        VerificationProvider::Other(_) => Err(failed(
            "there is no such provider; it must be cosign or notation".into(),
        )),
    }
}

async fn keyless_of(cluster: &Cluster, namespace: &str, wanted: &OciVerification) -> Result<Keyless, String> {
    let identities = wanted.match_oidc_identity.iter().map(|identity| Identity {
        issuer: identity.issuer.clone(),
        subject: identity.subject.clone(),
    });
    let identities: Vec<Identity> = identities.collect();
    let Some(root) = &wanted.trusted_root_secret_ref else {
        return Keyless::public(&identities).map_err(|error| chain(&error));
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
