//! `derivePassword`: the Master Password algorithm.

use hmac::{Hmac, KeyInit, Mac};

use super::super::STR;
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::value::{IntType, Type, Value};

/// The steps that a password counts: it takes about a tenth of a second.
const PRICE: u64 = 1_000_000;

/// The memory that it takes for a while.
const SCRATCH: usize = 32 << 20;

const SCOPE: &[u8] = b"com.lyndir.masterpassword";

pub(super) fn add(functions: &mut Functions) {
    const COUNTER: Type = Type::Int(IntType::Uint32);
    functions.insert(
        "derivePassword",
        Function::new(&[COUNTER, STR, STR, STR, STR], derive),
    );
}

/// The shapes of passwords: a letter stands for a set of characters.
fn shapes(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        "long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        "medium" => &["CvcnoCvc", "CvcCvcno"],
        "short" => &["Cvcn"],
        "basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        "pin" => &["nnnn"],
        _ => return None,
    })
}

fn characters(of: u8) -> &'static [u8] {
    match of {
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

/// A text after its length.
fn counted(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes(), text].concat()
}

fn derive(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let kind = call.str(1);
    let Some(shapes) = shapes(&kind) else {
        return Ok(Value::str(format!("cannot find password template {kind}")));
    };
    call.session.fits(SCRATCH)?;
    call.session.price(PRICE)?;
    let salt = [SCOPE, &counted(call.bytes(3))].concat();
    let mut key = [0; 64];
    let failed = |error: &dyn std::fmt::Display| Error::new(format!("failed to derive password: {error}"));
    let params = scrypt::Params::new(15, 8, 2).map_err(|error| failed(&error))?;
    scrypt::scrypt(call.bytes(2), &salt, &params, &mut key).map_err(|error| failed(&error))?;
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&key).map_err(|error| failed(&error))?;
    mac.update(SCOPE);
    mac.update(&counted(call.bytes(4)));
    mac.update(&(call.int(0) as u32).to_be_bytes());
    let seed = mac.finalize().into_bytes();
    let shape = shapes[usize::from(seed[0]) % shapes.len()];
    let password: String = shape
        .bytes()
        .zip(&seed[1..])
        .map(|(letter, byte)| {
            let set = characters(letter);
            char::from(set[usize::from(*byte) % set.len()])
        })
        .collect();
    Ok(Value::str(password))
}
