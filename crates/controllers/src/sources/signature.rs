//! Signatures of OCI artifacts, as a spec asks for them.

use api::source::{OciVerification, VerificationProvider};
use kube::Client as Cluster;
use model::Digest;
use source::oci::{Client, Repository};
use source::verify::cosign::{self, Identity, Keyless};

use super::chain;
use super::secrets::Data;

/// Whether an artifact is signed as it must be; the error says why not.
pub(super) async fn verify(
    cluster: &Cluster,
    namespace: &str,
    wanted: &OciVerification,
    client: &Client,
    repository: &Repository,
    digest: Digest,
) -> Result<(), String> {
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
            verified.map_err(|error| failed(chain(&error)))
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
            verified.map_err(|error| failed(chain(&error)))
        }
        _ => Err(failed(
            "it is not there yet in this controller; sign with cosign, or remove spec.verify".into(),
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
