//! The wire format: numbers, lengths and the fields they make up.

/// What is wrong with the bytes.
pub(super) type Problem = &'static str;

/// One field as it stands in the bytes.
pub(super) struct Piece<'a> {
    pub number: u32,
    pub content: Content<'a>,
}

/// The content of a field, by its wire type.
pub(super) enum Content<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
}

/// Reads the fields of a message one after the other.
pub(super) struct Pieces<'a>(pub &'a [u8]);

impl<'a> Iterator for Pieces<'a> {
    type Item = Result<Piece<'a>, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let piece = self.read();
        if piece.is_err() {
            self.0 = &[];
        }
        Some(piece)
    }
}

impl<'a> Pieces<'a> {
    fn read(&mut self) -> Result<Piece<'a>, Problem> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| "illegal tag")?;
        let content = match tag & 7 {
            0 => Content::Varint(self.varint()?),
            1 => Content::Fixed64(u64::from_le_bytes(
                *self.take(8)?.first_chunk().ok_or("unexpected EOF")?,
            )),
            2 => {
                let length = usize::try_from(self.varint()?)
                    .map_err(|_| "negative length found during unmarshaling")?;
                Content::Bytes(self.take(length)?)
            }
            5 => {
                let bytes = *self.take(4)?.first_chunk().ok_or("unexpected EOF")?;
                Content::Fixed64(u64::from(u32::from_le_bytes(bytes)))
            }
            _ => return Err("illegal wireType"),
        };
        Ok(Piece { number, content })
    }

    fn varint(&mut self) -> Result<u64, Problem> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or("unexpected EOF")?;
            self.0 = rest;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("integer overflow")
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Problem> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or("unexpected EOF")?;
        self.0 = rest;
        Ok(bytes)
    }
}
