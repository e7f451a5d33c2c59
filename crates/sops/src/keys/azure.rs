//! Credentials for Azure, in all the forms that people have them in.

use secrecy::SecretString;

use super::cloud::Fields;

/// How to get a token from Azure.
#[derive(Clone, Debug)]
pub struct AzureCredentials {
    /// Where tokens are given out, if not by the public cloud.
    pub authority_host: Option<String>,
    /// What to show for it.
    pub method: AzureMethod,
}

/// What is shown for a token.
#[derive(Clone, Debug)]
pub enum AzureMethod {
    /// The secret of an application: of the fields `tenantId`, `clientId`, `clientSecret`, or as `az` prints them,
    /// `tenant`, `appId`, `password`.
    Secret {
        /// Whose application it is.
        tenant_id: String,
        /// The application.
        client_id: String,
        /// Its secret.
        client_secret: SecretString,
    },
    /// The certificate of an application.
    Certificate {
        /// Whose application it is.
        tenant_id: String,
        /// The application.
        client_id: String,
        /// Certificate and private key as PEM.
        certificate: SecretString,
        /// What the private key is encrypted with.
        password: Option<SecretString>,
        /// Whether to show the certificates that vouch for it, too.
        send_chain: bool,
    },
    /// The identity of the machine that this runs on, chosen by its id.
    ManagedIdentity {
        /// The identity.
        client_id: String,
    },
}

pub(super) fn read(value: &[u8]) -> Result<AzureCredentials, String> {
    let decoded = decode(value)?;
    let fields = Fields::read(decoded.as_bytes(), "Azure credentials")?;
    let get = |name| Some(fields.text(name)).filter(|text| !text.is_empty());
    let authority_host = get("authorityHost");
    let method = match (get("tenantId"), get("clientId")) {
        (Some(tenant_id), Some(client_id)) if get("clientSecret").is_some() => AzureMethod::Secret {
            tenant_id,
            client_id,
            client_secret: fields.text("clientSecret").into(),
        },
        (Some(tenant_id), Some(client_id)) if get("clientCertificate").is_some() => {
            AzureMethod::Certificate {
                tenant_id,
                client_id,
                certificate: fields.text("clientCertificate").into(),
                password: get("clientCertificatePassword").map(Into::into),
                send_chain: fields.flag("clientCertificateSendChain"),
            }
        }
        (_, client_id) => match (get("tenant"), get("appId"), get("password"), client_id) {
            (Some(tenant_id), Some(client_id), Some(secret), _) => AzureMethod::Secret {
                tenant_id,
                client_id,
                client_secret: secret.into(),
            },
            (_, _, _, Some(client_id)) => AzureMethod::ManagedIdentity { client_id },
            _ => {
                return Err(
                    "invalid data: requires a 'clientId' field, a combination of 'tenantId', 'clientId' and \
                     'clientSecret', or 'tenantId', 'clientId' and 'clientCertificate'"
                        .to_owned(),
                );
            }
        },
    };
    Ok(AzureCredentials {
        authority_host,
        method,
    })
}

/// Windows tools write UTF-16 with a mark at its beginning.
fn decode(value: &[u8]) -> Result<String, String> {
    let wide = |rest: &[u8], read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = rest
            .chunks_exact(2)
            .map(|pair| read([pair[0], pair[1]]))
            .collect();
        String::from_utf16(&units).map_err(|_| "it is no UTF-16".to_owned())
    };
    match value {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => super::text(rest).map(str::to_owned),
        _ => super::text(value).map(str::to_owned),
    }
}
