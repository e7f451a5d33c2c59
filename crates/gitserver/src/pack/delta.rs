//! Deltas: an object told as copies from another one and new bytes.

use super::read::Error;

/// The largest object that a delta may make.
const MAX_OBJECT: usize = 1 << 30;

/// The object that the delta makes of its base.
pub(super) fn apply(base: &[u8], delta: &[u8]) -> Result<Vec<u8>, Error> {
    let mut rest = delta;
    let base_length = length(&mut rest)?;
    let result_length = length(&mut rest)?;
    if base_length != base.len() || result_length > MAX_OBJECT {
        return Err(Error::BadDelta);
    }
    // The announced length is not trusted with memory: it is reached by what really comes.
    let mut result = Vec::with_capacity(result_length.min(1 << 20));
    while let Some((op, tail)) = rest.split_first() {
        rest = tail;
        let piece = match op {
            0 => return Err(Error::BadDelta),
            1..=0x7f => take(&mut rest, usize::from(*op))?,
            _ => {
                let offset = field(&mut rest, *op, 4)?;
                let length = field(&mut rest, op >> 4, 3)?;
                let length = if length == 0 { 0x10000 } else { length };
                base.get(offset..offset + length).ok_or(Error::BadDelta)?
            }
        };
        if result.len() + piece.len() > result_length {
            return Err(Error::BadDelta);
        }
        result.extend_from_slice(piece);
    }
    if result.len() == result_length {
        Ok(result)
    } else {
        Err(Error::BadDelta)
    }
}

/// A number in bytes of seven bits, lowest first.
fn length(rest: &mut &[u8]) -> Result<usize, Error> {
    let mut value: u64 = 0;
    for shift in (0..63).step_by(7) {
        let byte = take(rest, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(value).map_err(|_| Error::BadDelta);
        }
    }
    Err(Error::BadDelta)
}

/// A number of up to `count` bytes, lowest first, of which only those are there whose bit is set.
fn field(rest: &mut &[u8], present: u8, count: u32) -> Result<usize, Error> {
    let mut value = 0;
    for index in 0..count {
        if present & (1 << index) != 0 {
            value |= usize::from(take(rest, 1)?[0]) << (8 * index);
        }
    }
    Ok(value)
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], Error> {
    let (taken, tail) = rest.split_at_checked(count).ok_or(Error::BadDelta)?;
    *rest = tail;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_insertions_make_the_object() {
        // Lengths 5 and 7; copy 5 from 0; insert "!!".
        assert_eq!(apply(b"hello", b"\x05\x07\x90\x05\x02!!").unwrap(), b"hello!!");
    }

    #[test]
    fn a_delta_that_lies_is_refused() {
        let wrong: [&[u8]; 7] = [
            b"",
            b"\x05",
            b"\x04\x05\x90\x05",     // the base is longer
            b"\x05\x06\x90\x05",     // the result is longer
            b"\x05\x02\x90\x05",     // the result is shorter
            b"\x05\x06\x91\x04\x06", // a copy from beyond the base
            b"\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ];
        for delta in wrong {
            assert!(apply(b"hello", delta).is_err(), "{delta:?}");
        }
    }
}
