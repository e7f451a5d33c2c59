//! Definitions with webhooks whose authority cannot be read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Value;
use x509_cert::Certificate;
use x509_cert::der::DecodePem as _;

const BUNDLE: [&str; 5] = ["spec", "conversion", "webhook", "clientConfig", "caBundle"];
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Removes the authorities of a CustomResourceDefinition's conversion webhook where none of them is a certificate. Such texts
/// hold a place that another controller fills in later; servers since Kubernetes 1.31 refuse them.
pub fn drop_unreadable_authority(object: &mut Value) {
    let bundle = object.str_at(&BUNDLE);
    if !super::normalise::is_definition(object) || bundle.is_empty() {
        return;
    }
    if !STANDARD.decode(bundle).is_ok_and(|text| has_certificate(&text)) {
        object.remove_at(&BUNDLE);
    }
}

/// Whether a text is empty or has at least one certificate in it.
fn has_certificate(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let blocks = text.match_indices(BEGIN).filter_map(|(at, _)| {
        let block = &text[at..];
        Some(&block[..block.find(END)? + END.len()])
    });
    text.is_empty()
        || blocks
            .into_iter()
            .any(|block| Certificate::from_pem(block).is_ok())
}
