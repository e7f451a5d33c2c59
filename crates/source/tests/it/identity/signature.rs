//! Signature Version 4, computed anew from a request that came in.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use testkit::http::Request;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// Whether a request without a query is signed with this secret for a service and region; which headers are signed.
pub(crate) fn signed(request: &Request, secret: &str, service: &str, region: &str) -> Option<Vec<String>> {
    let authorization = request.header("authorization")?;
    let rest = authorization.strip_prefix("AWS4-HMAC-SHA256 Credential=")?;
    let (credential, rest) = rest.split_once(", SignedHeaders=")?;
    let (names, signature) = rest.split_once(", Signature=")?;
    let time = request.header("x-amz-date")?;
    let scope = format!("{}/{region}/{service}/aws4_request", &time[..8]);
    if !credential.ends_with(&format!("/{scope}")) {
        return None;
    }
    let mut canonical = format!("{}\n{}\n\n", request.method, request.path());
    for name in names.split(';') {
        let value = match name {
            "host" => request.host(),
            name => request.header(name)?,
        };
        canonical += &format!("{name}:{value}\n");
    }
    canonical += &format!("\n{names}\n{}", hex(&Sha256::digest(&request.body)));
    let text = format!(
        "AWS4-HMAC-SHA256\n{time}\n{scope}\n{}",
        hex(&Sha256::digest(canonical))
    );
    let key = mac(format!("AWS4{secret}").as_bytes(), &time[..8]);
    let key = mac(&mac(&mac(&key, region), service), "aws4_request");
    let names = names.split(';').map(str::to_owned).collect();
    (hex(&mac(&key, &text)) == signature).then_some(names)
}
