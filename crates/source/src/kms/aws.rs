//! AWS KMS.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use reqwest::Client;
use secrecy::{SecretSlice, SecretString};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::Error;
use super::ask::Server;
use crate::bucket::xml;
use crate::http::escape;
use crate::identity::aws::{Key, Unsigned, domain, headers};

/// What to decrypt.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The name of the key.
    pub arn: &'a str,
    /// The region that the key is in.
    pub region: &'a str,
    /// What to decrypt, as base64.
    pub ciphertext: &'a str,
    /// What the ciphertext is bound to.
    pub context: &'a BTreeMap<String, String>,
}

/// Where the services are. What is not set is where AWS has it.
#[derive(Clone, Debug, Default)]
pub struct Endpoints {
    /// KMS, of any region.
    pub kms: Option<String>,
    /// The token service, of any region.
    pub sts: Option<String>,
}

/// Decrypts with a key.
///
/// # Errors
/// Where AWS refuses, or does not answer.
pub async fn decrypt(
    client: &Client,
    endpoints: &Endpoints,
    key: &Key,
    request: &Request<'_>,
    now: Timestamp,
) -> Result<SecretSlice<u8>, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Decrypted {
        plaintext: String,
    }
    check_region(request.region)?;
    let ciphertext = STANDARD
        .decode(request.ciphertext)
        .map_err(|_| Error::Ciphertext("base64"))?;
    let mut body = json!({"CiphertextBlob": STANDARD.encode(ciphertext), "KeyId": request.arn});
    if !request.context.is_empty() {
        body["EncryptionContext"] = json!(request.context);
    }
    let address = address(&endpoints.kms, "kms", request.region);
    let said = [
        ("content-type", "application/x-amz-json-1.1".to_owned()),
        ("x-amz-target", "TrentService.Decrypt".to_owned()),
    ];
    let call = Call {
        address: &address,
        service: "kms",
        region: request.region,
        headers: &said,
        body: body.to_string(),
    };
    let server = Server::new(&address, key.secrets());
    let decrypted: Decrypted = server
        .json(call.signed(client, key, now)?, "decrypted key")
        .await?;
    let plaintext = STANDARD.decode(decrypted.plaintext);
    plaintext
        .map(Into::into)
        .map_err(|_| server.unreadable("decrypted key"))
}

/// Takes on a role: a key for an hour.
///
/// # Errors
/// Where AWS refuses, or does not answer.
pub async fn assume_role(
    client: &Client,
    endpoints: &Endpoints,
    key: &Key,
    role: &str,
    region: &str,
    now: Timestamp,
) -> Result<Key, Error> {
    check_region(region)?;
    let fields = [
        ("Action", "AssumeRole".to_owned()),
        ("RoleArn", role.to_owned()),
        ("RoleSessionName", "sops@sluice".to_owned()),
        ("Version", "2011-06-15".to_owned()),
    ];
    let address = address(&endpoints.sts, "sts", region);
    let said = [("content-type", "application/x-www-form-urlencoded".to_owned())];
    let call = Call {
        address: &address,
        service: "sts",
        region,
        headers: &said,
        body: escape::query(&fields),
    };
    let server = Server::new(&address, key.secrets());
    let (status, body) = server.send(call.signed(client, key, now)?).await?;
    let text = String::from_utf8_lossy(&body);
    let part = |name| xml::text(&text, name).filter(|text| !text.is_empty());
    if !status.is_success() {
        let said: Vec<String> = ["Code", "Message"].into_iter().filter_map(part).collect();
        return Err(server.refused(status, &said.join(": ")));
    }
    match (part("AccessKeyId"), part("SecretAccessKey")) {
        (Some(id), Some(secret)) => Ok(Key {
            id,
            secret: secret.into(),
            session: part("SessionToken").map(SecretString::from),
        }),
        _ => Err(server.unreadable("key")),
    }
}

struct Call<'a> {
    address: &'a str,
    service: &'a str,
    region: &'a str,
    headers: &'a [(&'static str, String)],
    body: String,
}

impl Call<'_> {
    fn signed(&self, client: &Client, key: &Key, now: Timestamp) -> Result<reqwest::RequestBuilder, Error> {
        let wrong = || Error::Key("the address of the service is none".to_owned());
        let url = Url::parse(self.address).map_err(|_| wrong())?;
        let host = url.host_str().ok_or_else(wrong)?;
        let host = url
            .port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let unsigned = Unsigned {
            method: "POST",
            host: &host,
            path: "/",
            query: &[],
            headers: self.headers,
            body: self.body.as_bytes(),
            service: self.service,
        };
        let mut request = client.post(url);
        for (name, value) in headers(&unsigned, key, self.region, now) {
            request = request.header(name, value);
        }
        Ok(request.body(self.body.clone()))
    }
}

fn address(given: &Option<String>, service: &str, region: &str) -> String {
    given
        .clone()
        .unwrap_or_else(|| format!("https://{service}.{region}.{}/", domain(region)))
}

/// A region is part of a host name, so that a wrong one would lead a signed request to somebody else.
fn check_region(region: &str) -> Result<(), Error> {
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !region.is_empty() && region.len() <= 64 && region.bytes().all(is_name) {
        return Ok(());
    }
    Err(Error::Key(
        "the name of the AWS KMS key has no region: it must be like 'arn:aws:kms:eu-west-1:ACCOUNT:key/ID'"
            .to_owned(),
    ))
}
