//! DSA keys, which nobody should use any more, and some charts still do.

use num_bigint::BigUint;

use super::der;
use super::key::random_below;
use crate::session::Session;

/// The group in which all keys are made, of 2048 and 256 bits. Go makes a group for each key, which takes seconds and adds
/// nothing: groups are public.
const P: &str = concat!(
    "b0f18ccfc06e145de0870f65bf0cc9c3e668fdf3aefe97c5482d678f6e302bba6f5fd89737e08eddebbab8efca65d16e",
    "42fdf511ec0233b5a4515504e71cdd6790a798a43e6b05320bb20a5ffbd3eb3d0ff3a8e5fc8cafd048aff981b5326e70",
    "4150a6aabf6ab7b87a4e0001e1f24486d1f8971bb0d79448b81f2d6a4a8fc0b9d1e722e3f395d76d065d9e5ebfe2ba4c",
    "6aaced4269ad17c60584cff2a6db8678004d639f4a9c6dfa86c7232f235cadba88df3ce3733f4da6e54613be86b323d1",
    "285f079980ed9869f567086e5348486eeeafdf0b7ddfad36b98a5dee3b119b6e5263f86b2a721c1a78ea7ca0d9a18274",
    "9be18e41f1a5782979b04327d8243ff5",
);

/// The order of the generator.
const Q: &str = "ad95ba9ed990191c982605f2804be9cad9776213f11196fc036cc9a0726196b5";

/// The generator.
const G: &str = concat!(
    "6fb5b67f8f5a5d5d6965b5aee6e1c733f65d13d8bb1e742dc247461d77c6d375a4995b5f6c2dee1323a0aeb4e032a768",
    "31e5fec1199bc3be55cae4bffc0fec406b6908b5f36f3151a27f84538111adcc8f0c56af418b26d264da23d0c2b4a8b9",
    "48fc78b61bb74780f4884d28cbdcf7b829d71056f749841dcfb439ded31385aaa0480935c03423b29db2b8df468cd6b1",
    "1a0aec7b303a773b4b58f99a3bf44b732922b337f23b2e7d0ad8b42b8f2d2a363ac37c12e09fd16f8c83204328f1b7fb",
    "317d5c6959c66a09cd0fdc696facfd6a9aae9316efbe8ef2e859bb95da244b02e04e9cf64e789de384dd364f062e3393",
    "5d9669392179dc5440397467307d2008",
);

fn number(hex: &str) -> BigUint {
    BigUint::parse_bytes(hex.as_bytes(), 16).unwrap_or_default()
}

/// A new key in PEM, in the form that OpenSSL has for it.
pub(super) fn generate(session: &mut Session<'_>) -> String {
    let (p, q, g) = (number(P), number(Q), number(G));
    let secret = random_below(session, &(&q - 1_u32)) + 1_u32;
    let public = g.modpow(&secret, &p);
    let part = |number: &BigUint| der::unsigned(&number.to_bytes_be());
    let zero = der::unsigned(&[0]);
    let parts = [zero, part(&p), part(&q), part(&g), part(&public), part(&secret)];
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    der::pem("DSA PRIVATE KEY", &der::sequence(&parts))
}
