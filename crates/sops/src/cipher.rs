//! One encrypted value: `ENC[AES256_GCM,data:…,iv:…,tag:…,type:…]`.

use aes_gcm::aead::array::ArraySize;
use aes_gcm::aead::consts::{U12, U16, U32};
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aead::{AeadInOut, Nonce, Tag};
use aes_gcm::aes::Aes256;
use aes_gcm::{AesGcm, KeyInit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::tree::{Comment, Value};
use crate::unlock::DataKey;

const NO_FORM: &str = "is not encrypted as SOPS does it";
const NO_BASE64: &str = "has invalid base64 in it";
const WRONG: &str = "was not encrypted with this file's data key for this place";
const NO_TYPE: &str = "is not of the type that it is said to have";

struct Sealed<'a> {
    data: Vec<u8>,
    nonce: Vec<u8>,
    tag: Vec<u8>,
    kind: &'a str,
}

/// Takes apart what stands between the brackets; what follows them does not count.
fn parse(text: &str) -> Result<Sealed<'_>, &'static str> {
    let inner = text
        .strip_prefix("ENC[AES256_GCM,data:")
        .and_then(|rest| Some(&rest[..rest.rfind(']')?]))
        .ok_or(NO_FORM)?;
    let (rest, kind) = inner.rsplit_once(",type:").ok_or(NO_FORM)?;
    let (rest, tag) = rest.rsplit_once(",tag:").ok_or(NO_FORM)?;
    let (data, nonce) = rest.rsplit_once(",iv:").ok_or(NO_FORM)?;
    if [data, nonce, tag, kind].iter().any(|part| part.is_empty()) {
        return Err(NO_FORM);
    }
    let decode = |text: &str| STANDARD.decode(text).map_err(|_| NO_BASE64);
    Ok(Sealed {
        data: decode(data)?,
        nonce: decode(nonce)?,
        tag: decode(tag)?,
        kind,
    })
}

/// Decrypts a value that stands at `place`. An empty text is an empty text.
pub(crate) fn decrypt(text: &str, key: &DataKey, place: &str) -> Result<Value, &'static str> {
    if text.is_empty() {
        return Ok(Value::Text(Vec::new()));
    }
    let sealed = parse(text)?;
    let kind = sealed.kind;
    // SOPS has always written 32 bytes; Go's cipher takes any length.
    let bytes = match sealed.nonce.len() {
        32 => open::<U32>(&sealed, key, place),
        16 => open::<U16>(&sealed, key, place),
        12 => open::<U12>(&sealed, key, place),
        _ => None,
    };
    typed(kind, bytes.ok_or(WRONG)?)
}

fn open<N: ArraySize>(sealed: &Sealed<'_>, key: &DataKey, place: &str) -> Option<Vec<u8>> {
    let cipher = AesGcm::<Aes256, N>::new_from_slice(key.bytes()).ok()?;
    let nonce = Nonce::<AesGcm<Aes256, N>>::try_from(sealed.nonce.as_slice()).ok()?;
    let tag = Tag::<AesGcm<Aes256, N>>::try_from(sealed.tag.as_slice()).ok()?;
    let mut data = sealed.data.clone();
    cipher
        .decrypt_inout_detached(
            &nonce,
            place.as_bytes(),
            InOutBuf::from(data.as_mut_slice()),
            &tag,
        )
        .ok()?;
    Some(data)
}

fn typed(kind: &str, bytes: Vec<u8>) -> Result<Value, &'static str> {
    let text = || std::str::from_utf8(&bytes).map_err(|_| NO_TYPE);
    Ok(match kind {
        "str" => Value::Text(bytes),
        "int" => Value::Int(text()?.parse().map_err(|_| NO_TYPE)?),
        "float" => Value::Float(text()?.parse().map_err(|_| NO_TYPE)?),
        "bytes" => Value::Bytes(bytes),
        "bool" => Value::Bool(match text()? {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
            "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
            _ => return Err(NO_TYPE),
        }),
        "time" => {
            let text = text()?;
            text.parse::<jiff::Timestamp>().map_err(|_| NO_TYPE)?;
            Value::Time(text.to_owned())
        }
        "comment" => Value::Comment(Comment {
            text: bytes,
            inline: false,
        }),
        _ => return Err("has a type that is not known"),
    })
}
