//! `bcrypt` and `htpasswd`.

use super::super::STR;
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::value::Value;

/// How often the key is mixed in, as a power of two: what Go's library does by default.
const COST: u32 = 10;
/// The steps that a hash counts: it takes about a twentieth of a second.
const PRICE: u64 = 500_000;

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "bcrypt",
            Function::new(&[STR], |call| Ok(Value::str(hash(call, call.bytes(0))?))),
        )
        .insert(
            "htpasswd",
            Function::new(&[STR, STR], |call| {
                let user = call.str(0);
                if user.contains(':') {
                    return Ok(Value::str(format!("invalid username: {user}")));
                }
                Ok(Value::str(format!("{user}:{}", hash(call, call.bytes(1))?)))
            }),
        );
}

fn hash(call: &mut Call<'_, '_>, password: &[u8]) -> Result<String, Error> {
    call.session.price(PRICE)?;
    if password.len() > 72 {
        return Ok(
            "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes".to_owned(),
        );
    }
    let mut salt = [0; 16];
    call.session.world().random(&mut salt);
    Ok(bcrypt(password, salt))
}

/// The hash of a password with a salt, in the form that Go writes.
fn bcrypt(password: &[u8], salt: [u8; 16]) -> String {
    // The key ends with a zero, and only 72 bytes of it count.
    let mut key = password.to_vec();
    key.push(0);
    key.truncate(72);
    let mut state = blowfish::Blowfish::bc_init_state();
    state.salted_expand_key(&salt, &key);
    for _ in 0..1_u32 << COST {
        state.bc_expand_key(&key);
        state.bc_expand_key(&salt);
    }
    let mut words: [u32; 6] = [
        0x4f72_7068,
        0x6561_6e42,
        0x6568_6f6c,
        0x6465_7253,
        0x6372_7944,
        0x6f75_6274,
    ];
    for pair in words.as_chunks_mut::<2>().0 {
        for _ in 0..64 {
            *pair = state.bc_encrypt(*pair);
        }
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    format!("$2a${COST:02}${}{}", encode(&salt), encode(&bytes[..23]))
}

/// Base 64 with the letters of bcrypt and without padding.
fn encode(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let mut buffer = [0; 4];
        buffer[1..=chunk.len()].copy_from_slice(chunk);
        let number = u32::from_be_bytes(buffer);
        for index in 0..=chunk.len() {
            let letter = number >> (18 - 6 * index) & 63;
            out.push(char::from(LETTERS[letter as usize]));
        }
    }
    out
}
