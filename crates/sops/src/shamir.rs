//! Shamir's way to share a secret over the field with 256 elements: one share for each group of recipients.

/// Puts the secret together. Each share is its bytes and, as the last one, its place on the x axis.
pub(crate) fn combine(shares: &[Vec<u8>]) -> Result<Vec<u8>, &'static str> {
    let [first, others @ ..] = shares else {
        return Err("there are none");
    };
    if others.is_empty() {
        return Err("there is only one");
    }
    if first.len() < 2 || others.iter().any(|share| share.len() != first.len()) {
        return Err("they differ in length");
    }
    let places: Vec<u8> = shares.iter().filter_map(|share| share.last().copied()).collect();
    for (index, place) in places.iter().enumerate() {
        if places[..index].contains(place) {
            return Err("one is there twice");
        }
    }
    let secret = (0..first.len() - 1).map(|at| {
        let values: Vec<u8> = shares.iter().map(|share| share[at]).collect();
        at_zero(&places, &values)
    });
    Ok(secret.collect())
}

/// Lagrange's interpolation at zero. In this field, to subtract is to add is to xor.
fn at_zero(places: &[u8], values: &[u8]) -> u8 {
    let mut sum = 0;
    for (i, value) in values.iter().enumerate() {
        let mut basis = 1;
        for (j, place) in places.iter().enumerate() {
            if i != j {
                basis = multiply(basis, divide(*place, *place ^ places[i]));
            }
        }
        sum ^= multiply(*value, basis);
    }
    sum
}

/// Multiplication modulo x⁸ + x⁴ + x³ + x + 1, without branches on the operands.
fn multiply(left: u8, right: u8) -> u8 {
    let (mut product, mut shifted) = (0_u8, left);
    for bit in 0..8 {
        product ^= shifted & 0_u8.wrapping_sub((right >> bit) & 1);
        shifted = (shifted << 1) ^ (0x1b & 0_u8.wrapping_sub(shifted >> 7));
    }
    product
}

/// The inverse of an element is its 254th power.
fn divide(left: u8, right: u8) -> u8 {
    let (mut inverse, mut power) = (1, right);
    for _ in 0..7 {
        power = multiply(power, power);
        inverse = multiply(inverse, power);
    }
    multiply(left, inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_divided_and_multiplied_by_the_same_stays() {
        for left in 0..=255 {
            for right in 1..=255 {
                assert_eq!(multiply(divide(left, right), right), left);
            }
        }
    }

    #[test]
    fn points_on_a_line_meet_the_axis_at_the_secret() {
        let (secret, slope) = (42, 7);
        let share = |x: u8| vec![secret ^ multiply(slope, x), x];
        assert_eq!(combine(&[share(3), share(200)]), Ok(vec![42]));
        assert_eq!(combine(&[share(9), share(1), share(77)]), Ok(vec![42]));
        assert!(combine(&[share(3)]).is_err());
        assert!(combine(&[share(3), share(3)]).is_err());
    }
}
