//! `encryptAES` and `decryptAES`: AES-256 in blocks that are chained, with the password as it is for a key.

use ::aes::Aes256;
use cbc::cipher::{Block, BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};

use super::super::encoding::{base64_decode, base64_encode, base64_error};
use super::super::{STR, made};
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::value::Value;

const BLOCK: usize = 16;

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert("encryptAES", Function::new(&[STR, STR], encrypt))
        .insert("decryptAES", Function::new(&[STR, STR], decrypt));
}

/// The first 32 bytes of the password, filled up with zeros.
fn key_of(password: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    let used = password.len().min(32);
    key[..used].copy_from_slice(&password[..used]);
    key
}

fn encrypt(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let text = call.bytes(1);
    if text.is_empty() {
        return Ok(Value::str(""));
    }
    call.session.charge(text.len() * 2)?;
    let mut vector = [0; BLOCK];
    call.session.world().random(&mut vector);
    let padding = BLOCK - text.len() % BLOCK;
    let mut content = text.to_vec();
    content.resize(text.len() + padding, padding as u8);
    let mut cipher = cbc::Encryptor::<Aes256>::new(&key_of(call.bytes(0)).into(), &vector.into());
    for chunk in content.as_chunks_mut::<BLOCK>().0 {
        let mut block: Block<cbc::Encryptor<Aes256>> = (*chunk).into();
        cipher.encrypt_block(&mut block);
        *chunk = block.into();
    }
    let sealed = [vector.as_slice(), &content].concat();
    made(call, base64_encode(&sealed).into_bytes())
}

fn decrypt(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    if call.bytes(1).is_empty() {
        return Ok(Value::str(""));
    }
    let sealed = base64_decode(call.bytes(1)).map_err(base64_error)?;
    let Some((vector, content)) = sealed.split_first_chunk::<BLOCK>() else {
        return Err(Error::new(format!(
            "runtime error: slice bounds out of range [:{BLOCK}] with capacity {}",
            sealed.len()
        )));
    };
    if content.len() % BLOCK != 0 {
        return Err(Error::new("crypto/cipher: input not full blocks"));
    }
    let mut content = content.to_vec();
    let mut cipher = cbc::Decryptor::<Aes256>::new(&key_of(call.bytes(0)).into(), &(*vector).into());
    for chunk in content.as_chunks_mut::<BLOCK>().0 {
        let mut block: Block<cbc::Decryptor<Aes256>> = (*chunk).into();
        cipher.decrypt_block(&mut block);
        *chunk = block.into();
    }
    let padding = content
        .last()
        .copied()
        .ok_or("runtime error: index out of range [-1]")?;
    let length = content.len().checked_sub(usize::from(padding)).ok_or_else(|| {
        let end = content.len() as i64 - i64::from(padding);
        format!("runtime error: slice bounds out of range [:{end}]")
    })?;
    content.truncate(length);
    made(call, content)
}
