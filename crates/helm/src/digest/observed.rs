//! The digest of a release, as a snapshot has it.

use model::digest::Algorithm;
use model::{Digest, Value};

use super::of_bytes;
use crate::manifest::Event;
use crate::record::{Fields, Record, hook_value, info_value, metadata_value, values_value};

/// The digest of a release and of the artifact that its chart came from, if that has one.
pub fn of_record(algorithm: Algorithm, record: &Record, oci_digest: &str) -> Digest {
    of_bytes(algorithm, &observed_json(record, oci_digest))
}

/// Whether a release has this digest, whatever its algorithm; nothing if that is no digest.
pub fn record_matches(digest: &str, record: &Record, oci_digest: &str) -> Option<bool> {
    let digest: Digest = digest.parse().ok()?;
    Some(of_record(digest.algorithm(), record, oci_digest) == digest)
}

/// The text the digest is made of: JSON with what Flux observes of a release. Tests are not part of it, for anybody may run them; neither
/// is the chart but for its metadata.
pub fn observed_json(record: &Record, oci_digest: &str) -> Vec<u8> {
    let metadata = record.metadata().map_or_else(Value::object, metadata_value);
    let config = record.config.as_ref().filter(|config| !config.is_empty());
    let hooks: Vec<Value> = record
        .hooks
        .iter()
        .filter(|hook| !hook.is_for(Event::Test))
        .map(hook_value)
        .collect();
    let mut fields = Fields::default();
    fields.put("name", Value::str(&record.name));
    fields.put("version", Value::Int(record.version));
    fields.put("info", info_value(&record.info));
    fields.put("chartMetadata", metadata);
    fields.put("config", config.map_or(Value::Null, values_value));
    fields.put("manifest", Value::str(&record.manifest));
    fields.put(
        "hooks",
        if hooks.is_empty() {
            Value::Null
        } else {
            hooks.into()
        },
    );
    fields.put("namespace", Value::str(&record.namespace));
    fields.text("ociDigest", oci_digest);
    let mut json = model::json::to_vec(&fields.value());
    json.push(b'\n');
    json
}
