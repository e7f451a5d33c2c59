//! What is random. All of it comes from [`World::random`](crate::World::random), and is the same for the same world.

use super::{INT, STR, made};
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::session::Session;
use crate::utf8;
use crate::value::Value;

/// What one random number counts, in bytes that are gone through: the world may ask the system for each.
const RANDOM: usize = 256;

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "randAlphaNum",
            Function::new(&[INT], |call| text(call, &[LETTERS, DIGITS].concat())),
        )
        .insert("randAlpha", Function::new(&[INT], |call| text(call, LETTERS)))
        .insert("randNumeric", Function::new(&[INT], |call| text(call, DIGITS)))
        .insert(
            "randAscii",
            Function::new(&[INT], |call| {
                let printed: String = (' '..='~').collect();
                text(call, &printed)
            }),
        )
        .insert(
            "randBytes",
            Function::new(&[INT], |call| {
                let count = length(call)?;
                let mut bytes = vec![0; count];
                call.session.world().random(&mut bytes);
                let text = super::encoding::base64_encode(&bytes);
                made(call, text.into_bytes())
            }),
        )
        .insert(
            "randInt",
            Function::new(&[INT, INT], |call| {
                let (min, max) = (call.int(0), call.int(1));
                let span = u64::try_from(max.wrapping_sub(min)).unwrap_or(0);
                let index =
                    below(call.session, span).ok_or_else(|| Error::new("invalid argument to Intn"))?;
                Ok(Value::int(min.wrapping_add(index.cast_signed())))
            }),
        )
        .insert(
            "shuffle",
            Function::new(&[STR], |call| {
                let mut chars: Vec<char> = utf8::runes(call.bytes(0))
                    .map(|(_, _, char)| char.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect();
                call.session.work(chars.len().saturating_mul(RANDOM))?;
                for last in (1..chars.len()).rev() {
                    let index = below(call.session, last as u64 + 1).unwrap_or(0);
                    chars.swap(last, index as usize);
                }
                made(call, chars.into_iter().collect::<String>().into_bytes())
            }),
        )
        .insert(
            "uuidv4",
            Function::new(&[], |call| {
                let mut bytes = [0; 16];
                call.session.world().random(&mut bytes);
                let bits = u128::from_be_bytes(bytes) & !(0xf000 << 64) & !(0xc000 << 48)
                    | 0x4000 << 64
                    | 0x8000 << 48;
                let text = format!("{bits:032x}");
                let parts = [
                    &text[..8],
                    &text[8..12],
                    &text[12..16],
                    &text[16..20],
                    &text[20..],
                ];
                Ok(Value::str(parts.join("-")))
            }),
        );
}

/// A number below another, all alike; none where there is none.
pub(super) fn below(session: &mut Session<'_>, end: u64) -> Option<u64> {
    if end == 0 {
        return None;
    }
    // Numbers from the last, incomplete round would come more often.
    let whole = u64::MAX - u64::MAX % end;
    loop {
        let mut bytes = [0; 8];
        session.world().random(&mut bytes);
        let number = u64::from_le_bytes(bytes);
        if number < whole {
            return Some(number % end);
        }
    }
}

fn length(call: &mut Call<'_, '_>) -> Result<usize, Error> {
    let count = usize::try_from(call.int(0)).map_err(|_| "runtime error: makeslice: len out of range")?;
    call.session.charge(count)?;
    Ok(count)
}

fn text(call: &mut Call<'_, '_>, letters: &str) -> Result<Value, Error> {
    if call.int(0) < 0 {
        // The library refuses, and Sprig drops the error.
        return Ok(Value::str(""));
    }
    let count = length(call)?;
    call.session.work(count.saturating_mul(RANDOM))?;
    let letters = letters.as_bytes();
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        let index = below(call.session, letters.len() as u64).unwrap_or(0);
        out.push(letters[index as usize]);
    }
    Ok(Value::string_of_vec(out))
}
