//! Bytes as Go reads them from JSON: base64 with padding, line ends ignored, or a list of numbers.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Go does not mind bits that the last group leaves over.
const GO: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// Bytes as base64.
pub(super) fn encode(bytes: &[u8]) -> String {
    GO.encode(bytes)
}

/// `text` in its canonical form, if it is not in it already.
///
/// # Errors
/// Go's message, where `text` is no base64.
pub(super) fn normalize(text: &str) -> Result<Option<String>, String> {
    let bytes = match GO.decode(text) {
        Ok(bytes) => bytes,
        Err(_) => {
            let joined = text.replace(['\n', '\r'], "");
            GO.decode(joined)
                .map_err(|_| format!("illegal base64 data at input byte {}", fault(text.as_bytes())))?
        }
    };
    let canonical = encode(&bytes);
    Ok((canonical != text).then_some(canonical))
}

/// Where Go says that `text`, which is no base64, is wrong.
fn fault(text: &[u8]) -> usize {
    let is_line_end = |byte: u8| matches!(byte, b'\n' | b'\r');
    let skip_line_ends = |mut at: usize| {
        while text.get(at).is_some_and(|byte| is_line_end(*byte)) {
            at += 1;
        }
        at
    };
    // How many letters of a group of four were read.
    let mut filled = 0;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => filled = (filled + 1) % 4,
            byte if is_line_end(*byte) => {}
            b'=' if filled == 2 => {
                let second = skip_line_ends(at);
                return match text.get(second) {
                    None => text.len(),
                    Some(b'=') => skip_line_ends(second + 1),
                    Some(_) => second - 1,
                };
            }
            b'=' if filled == 3 => return skip_line_ends(at),
            _ => return at - 1,
        }
    }
    text.len() - filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_and_spare_bits_are_dropped() {
        assert_eq!(normalize("YWJj"), Ok(None));
        assert_eq!(normalize("YW\nJj\r\n"), Ok(Some("YWJj".into())));
        assert_eq!(normalize("YR=="), Ok(Some("YQ==".into())));
        assert_eq!(normalize(""), Ok(None));
    }

    /// Each place was named so by Go.
    #[test]
    fn the_place_of_a_fault_is_the_one_go_names() {
        for (text, place) in [
            ("!", 0),
            ("YQ", 0),
            ("YQ=a", 2),
            ("YWJj!", 4),
            ("YWJjYQ", 4),
            ("YQ=", 3),
            ("YQ==x", 4),
            ("YWI=YWI=", 4),
            ("Y===", 1),
        ] {
            let message = format!("illegal base64 data at input byte {place}");
            assert_eq!(normalize(text), Err(message), "{text}");
        }
    }
}
