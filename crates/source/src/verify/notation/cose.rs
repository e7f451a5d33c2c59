//! Envelopes in CBOR (COSE).

use jiff::Timestamp;

use super::cbor::{Value, write_bytes};
use super::chain::Certificate;
use super::envelope::{AUTHENTIC_TIME, EXPIRY, Envelope, PAYLOAD_TYPE, SCHEME, target_of, understood};

/// One signature by one signer.
const SIGN_1: u64 = 18;
const ALGORITHM: i64 = 1;
const CRITICAL: i64 = 2;
const CONTENT_TYPE: i64 = 3;
const CERTIFICATES: i64 = 33;
/// Seconds since 1970.
const EPOCH: u64 = 1;

/// Reads an envelope.
pub(super) fn parse(bytes: &[u8]) -> Result<Envelope, String> {
    let wrong = |what: &str| format!("the envelope cannot be read: {what}");
    let parts = match Value::parse(bytes) {
        Some(Value::Tag(SIGN_1, parts)) => *parts,
        _ => return Err(wrong("it is no COSE_Sign1")),
    };
    let Value::Array(parts) = parts else {
        return Err(wrong("it is no COSE_Sign1"));
    };
    let [
        Value::Bytes(protected),
        unprotected,
        Value::Bytes(payload),
        Value::Bytes(signature),
    ] = &parts[..]
    else {
        return Err(wrong("it has not the four parts of a COSE_Sign1"));
    };
    let header = Value::parse(protected).ok_or_else(|| wrong("its header is no CBOR"))?;
    if header.numbered(CONTENT_TYPE) != Some(&Value::Text(PAYLOAD_TYPE.to_owned())) {
        return Err(wrong("its payload is of another type"));
    }
    check_critical(&header)?;
    let algorithm = match header.numbered(ALGORITHM) {
        Some(Value::Integer(number)) => {
            name_of(*number).ok_or_else(|| wrong("its algorithm is not known"))?
        }
        _ => return Err(wrong("it names no algorithm")),
    };
    let Some(Value::Text(scheme)) = header.named(SCHEME) else {
        return Err(wrong("it names no signing scheme"));
    };
    Ok(Envelope {
        certificates: certificates(unprotected).ok_or_else(|| wrong("one of its certificates is none"))?,
        algorithm: algorithm.to_owned(),
        scheme: scheme.clone(),
        authentic_time: time(&header, AUTHENTIC_TIME).map_err(|()| wrong("one of its times is none"))?,
        expiry: time(&header, EXPIRY).map_err(|()| wrong("one of its times is none"))?,
        message: message(protected, payload),
        signature: signature.clone(),
        target: target_of(payload)?,
    })
}

/// What is signed: the header and the payload, with a word that tells what they are.
fn message(protected: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut message = vec![0x84, 0x6a];
    message.extend_from_slice(b"Signature1");
    write_bytes(protected, &mut message);
    write_bytes(&[], &mut message);
    write_bytes(payload, &mut message);
    message
}

fn check_critical(header: &Value) -> Result<(), String> {
    let names = match header.numbered(CRITICAL) {
        None => return Ok(()),
        Some(Value::Array(names)) => names,
        Some(_) => return Err("the envelope cannot be read: its critical attributes are no list".to_owned()),
    };
    for name in names {
        match name {
            Value::Integer(ALGORITHM | CRITICAL | CONTENT_TYPE) => {}
            Value::Text(name) => understood(name)?,
            other => return Err(format!("the signature needs '{other:?}', which is not supported")),
        }
    }
    Ok(())
}

/// The name that JWS has for the same algorithm.
fn name_of(algorithm: i64) -> Option<&'static str> {
    match algorithm {
        -7 => Some("ES256"),
        -35 => Some("ES384"),
        -36 => Some("ES512"),
        -37 => Some("PS256"),
        -38 => Some("PS384"),
        -39 => Some("PS512"),
        _ => None,
    }
}

/// One certificate stands alone, several in a list.
fn certificates(unprotected: &Value) -> Option<Vec<Certificate>> {
    let parse = |value: &Value| match value {
        Value::Bytes(der) => Certificate::parse(der),
        _ => None,
    };
    match unprotected.numbered(CERTIFICATES)? {
        Value::Array(all) => all.iter().map(parse).collect(),
        one => Some(vec![parse(one)?]),
    }
}

fn time(header: &Value, name: &str) -> Result<Option<Timestamp>, ()> {
    match header.named(name) {
        None => Ok(None),
        Some(Value::Tag(EPOCH, time)) => match **time {
            Value::Integer(seconds) => Timestamp::from_second(seconds).map(Some).map_err(|_| ()),
            _ => Err(()),
        },
        Some(_) => Err(()),
    }
}
