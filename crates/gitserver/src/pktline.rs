//! The framing of both protocols: lines with four digits of length before them.

/// The longest content of one line.
pub(crate) const MAX_DATA: usize = 65516;

/// One unit of the framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packet<'a> {
    /// A line, with its line end if it has one.
    Data(&'a [u8]),
    /// `0000`
    Flush,
    /// `0001`
    Delimiter,
    /// `0002`
    ResponseEnd,
}

impl Packet<'_> {
    /// The line as text without its line end.
    pub(crate) fn text(&self) -> Option<&str> {
        let Packet::Data(data) = self else { return None };
        std::str::from_utf8(data)
            .ok()
            .map(|text| text.strip_suffix('\n').unwrap_or(text))
    }
}

/// Bytes that are no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bad line length character")]
pub(crate) struct Malformed;

/// The first packet with the rest after it; nothing when more bytes are needed.
pub(crate) fn split(bytes: &[u8]) -> Result<Option<(Packet<'_>, &[u8])>, Malformed> {
    let Some(digits) = bytes.get(..4) else {
        return Ok(None);
    };
    let digits = std::str::from_utf8(digits).map_err(|_| Malformed)?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(Malformed);
    }
    let length = usize::from_str_radix(digits, 16).map_err(|_| Malformed)?;
    let packet = match length {
        0 => Packet::Flush,
        1 => Packet::Delimiter,
        2 => Packet::ResponseEnd,
        3 => return Err(Malformed),
        _ => match bytes.get(4..length) {
            Some(data) => Packet::Data(data),
            None => return Ok(None),
        },
    };
    Ok(Some((packet, &bytes[length.max(4)..])))
}

/// Appends a line. It must be at most [`MAX_DATA`] long.
pub(crate) fn line(out: &mut Vec<u8>, data: impl AsRef<[u8]>) {
    let data = data.as_ref();
    out.extend_from_slice(format!("{:04x}", data.len() + 4).as_bytes());
    out.extend_from_slice(data);
}

pub(crate) fn flush(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0000");
}

pub(crate) fn delimiter(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0001");
}

/// Which of several streams in one a band of a side-band line carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Band {
    Data = 1,
    Progress = 2,
    Error = 3,
}

/// How streams are put together on the wire, as the client wanted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SideBand {
    /// Not at all: only the data is sent, as it is.
    None,
    /// In lines of at most 1000 bytes.
    Small,
    /// In lines of at most 65520 bytes.
    Large,
}

impl SideBand {
    /// Appends bytes of one band.
    pub(crate) fn write(self, out: &mut Vec<u8>, band: Band, bytes: &[u8]) {
        let length = match self {
            Self::None if band == Band::Data => return out.extend_from_slice(bytes),
            Self::None => return,
            Self::Small => 995,
            Self::Large => MAX_DATA - 1,
        };
        for piece in bytes.chunks(length) {
            line(out, [&[band as u8], piece].concat());
        }
    }

    /// Appends the end of the stream.
    pub(crate) fn end(self, out: &mut Vec<u8>) {
        if self != Self::None {
            flush(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut out = Vec::new();
        line(&mut out, "want\n");
        flush(&mut out);
        delimiter(&mut out);
        assert_eq!(out, b"0009want\n00000001");
        let (packet, rest) = split(&out).unwrap().unwrap();
        assert_eq!(packet.text(), Some("want"));
        let (packet, rest) = split(rest).unwrap().unwrap();
        assert_eq!(packet, Packet::Flush);
        assert_eq!(split(rest).unwrap().unwrap().0, Packet::Delimiter);
    }

    #[test]
    fn half_a_packet_waits_and_nonsense_is_refused() {
        for half in ["", "00", "0009wan"] {
            assert_eq!(split(half.as_bytes()), Ok(None));
        }
        for wrong in ["0003", "zzzz", "+009", "é00"] {
            assert_eq!(split(wrong.as_bytes()), Err(Malformed), "{wrong}");
        }
    }

    #[test]
    fn a_long_stream_is_cut_into_lines() {
        let mut out = Vec::new();
        SideBand::Large.write(&mut out, Band::Data, &vec![7; MAX_DATA]);
        assert_eq!(&out[..5], b"fff0\x01");
        assert_eq!(out.len(), MAX_DATA + 2 * 5);
    }
}
