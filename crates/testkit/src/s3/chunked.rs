//! Bodies in pieces (`aws-chunked`): each piece has its length and perhaps a signature before it.

use bytes::Bytes;

use super::failure::Failure;
use super::identity::Proof;
use crate::http::Request;

/// The object in a request's body.
pub(super) fn body(request: &Request, proof: Option<&Proof>) -> Result<Bytes, Failure> {
    let hash = match proof {
        Some(proof) => proof.payload_hash.as_str(),
        None => request.header("x-amz-content-sha256").unwrap_or_default(),
    };
    if !hash.starts_with("STREAMING-") {
        return Ok(request.body.clone());
    }
    let signed = proof.filter(|_| hash.starts_with("STREAMING-AWS4-HMAC-SHA256-PAYLOAD"));
    let body = decode(&request.body, signed)?;
    let announced = request
        .header("x-amz-decoded-content-length")
        .and_then(|length| length.parse().ok());
    if announced.is_some_and(|length: usize| length != body.len()) {
        return Err(Failure::IncompleteBody);
    }
    Ok(body)
}

/// Puts the pieces together; with a proof, checks that each continues the signature before it.
fn decode(mut rest: &[u8], proof: Option<&Proof>) -> Result<Bytes, Failure> {
    let mut body = Vec::new();
    let mut previous = proof.map(|proof| proof.signature.clone());
    loop {
        let end = rest
            .windows(2)
            .position(|pair| pair == b"\r\n")
            .ok_or(Failure::IncompleteBody)?;
        let head = std::str::from_utf8(&rest[..end]).map_err(|_| Failure::IncompleteBody)?;
        let (length, extension) = head.split_once(';').unwrap_or((head, ""));
        let length = usize::from_str_radix(length, 16).map_err(|_| Failure::IncompleteBody)?;
        rest = &rest[end + 2..];
        let data = rest.get(..length).ok_or(Failure::IncompleteBody)?;
        if let (Some(proof), Some(signature)) = (proof, &mut previous) {
            let shown = extension
                .strip_prefix("chunk-signature=")
                .ok_or(Failure::SignatureDoesNotMatch)?;
            if proof.signer.sign_chunk(signature, data) != shown {
                return Err(Failure::SignatureDoesNotMatch);
            }
            *signature = shown.to_string();
        }
        if length == 0 {
            // Checksums may follow; they are not looked at.
            return Ok(body.into());
        }
        body.extend_from_slice(data);
        rest = rest[length..]
            .strip_prefix(b"\r\n")
            .ok_or(Failure::IncompleteBody)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together() {
        let body = decode(
            b"5\r\nhello\r\n6\r\n there\r\n0\r\nx-amz-checksum-crc32:AAAA\r\n\r\n",
            None,
        );
        assert_eq!(body.unwrap(), "hello there");
        for wrong in [
            "",
            "5\r\nhel",
            "5\r\nhelloXX0\r\n",
            "zz\r\n",
            "ffffffffffffffffff\r\n",
        ] {
            assert_eq!(
                decode(wrong.as_bytes(), None),
                Err(Failure::IncompleteBody),
                "{wrong}"
            );
        }
    }
}
