//! How often a file in DER has its password hashed: a file made to do harm asks for billions of rounds, which nothing can interrupt.

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const CONSTRUCTED: u8 = 0x20;
/// How deep values are nested at most in files that are read.
const DEPTH: usize = 32;

/// Returns the rounds of all derivations together. They follow the salt wherever they are: numbers after bytes. PBKDF2 has the number of
/// rounds, and perhaps the length of the key after it. scrypt has three numbers, whose product is its work and its memory.
pub(crate) fn of(der: &[u8]) -> u64 {
    within(der, 0)
}

fn within(der: &[u8], depth: usize) -> u64 {
    let (mut rest, mut total) = (der, 0_u64);
    let mut numbers: Option<Vec<u64>> = None;
    while let Some((tag, content, next)) = value(rest) {
        match (tag, &mut numbers) {
            (INTEGER, Some(numbers)) => numbers.push(number(content)),
            (OCTETS, _) => {
                total = total.saturating_add(derivation(&numbers.replace(Vec::new()).unwrap_or_default()));
            }
            _ => total = total.saturating_add(derivation(&numbers.take().unwrap_or_default())),
        }
        if depth < DEPTH && (tag & CONSTRUCTED != 0 || tag == OCTETS) {
            total = total.saturating_add(within(content, depth + 1));
        }
        rest = next;
    }
    total.saturating_add(derivation(&numbers.unwrap_or_default()))
}

/// The rounds that the numbers after a salt stand for.
fn derivation(numbers: &[u64]) -> u64 {
    match numbers {
        [rounds] | [rounds, _] => *rounds,
        [] => 0,
        all => all
            .iter()
            .fold(1, |product, number| product.saturating_mul(*number)),
    }
}

fn number(content: &[u8]) -> u64 {
    let digits = content.iter().skip_while(|byte| **byte == 0);
    digits.fold(0, |number: u64, byte| {
        number.saturating_mul(256).saturating_add(u64::from(*byte))
    })
}

/// The first value of these, its tag and what follows it. Nothing where this is no DER: then nobody else reads it either.
fn value(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match usize::from(*first) {
        short @ ..0x80 => (short, rest),
        long => {
            let (bytes, rest) = rest.split_at_checked((long & 0x7f).min(8))?;
            let length = bytes
                .iter()
                .fold(0, |length: usize, byte| length << 8 | usize::from(*byte));
            (length, rest)
        }
    };
    let (content, next) = rest.split_at_checked(length)?;
    Some((*tag, content, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = u8::try_from(content.len()).unwrap();
        [&[tag, length], content].concat()
    }

    fn salted(numbers: &[&[u8]]) -> Vec<u8> {
        let mut all = der(OCTETS, &[1, 2]);
        for number in numbers {
            all.extend(der(INTEGER, number));
        }
        der(0x30, &all)
    }

    #[test]
    fn the_rounds_of_all_derivations_are_added() {
        assert_eq!(of(&salted(&[&[0x08, 0x00]])), 2048);
        assert_eq!(
            of(&salted(&[&[0x08, 0x00], &[32]])),
            2048,
            "the length of the key"
        );
        assert_eq!(of(&salted(&[&[0x40, 0x00], &[8], &[2]])), 1 << 18, "scrypt");
        let two = [salted(&[&[0x08, 0x00]]), salted(&[&[0x08, 0x00]])].concat();
        assert_eq!(of(&der(0x30, &two)), 4096);
        assert_eq!(of(&der(OCTETS, &two)), 4096, "DER in bytes");
        assert_eq!(of(&salted(&[&[0xff; 20]])), u64::MAX);
        assert_eq!(of(&der(INTEGER, &[5])), 0);
        assert_eq!(of(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0]), 0, "it is no DER");
    }
}
