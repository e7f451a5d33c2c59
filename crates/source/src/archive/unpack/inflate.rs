//! Decompression that stops where more comes out than gzip can hold. Bombs within that are stopped by the limits of size.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// What is unpacked before the ratio is looked at: a small file of zeros is no harm.
const FREE: u64 = 16 << 20;

/// How gzip begins.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Gunzips, and fails with [`Exceeded`] once the content grows out of proportion.
pub(super) struct Inflate<R: Read> {
    decoder: MultiGzDecoder<Counting<R>>,
    /// Whether the file begins as gzip does: one that is something else is not to be taken for one that was cut off.
    is_gzip: bool,
    given: u64,
    ratio: u64,
}

/// The mark of the limit in an I/O error.
#[derive(Debug, thiserror::Error)]
#[error("compressed too much")]
pub(super) struct Exceeded;

struct Counting<R> {
    inner: BufReader<R>,
    taken: u64,
}

impl<R: Read> Inflate<R> {
    pub(super) fn new(reader: R, ratio: u64) -> Self {
        let mut counting = Counting {
            inner: BufReader::with_capacity(128 * 1024, reader),
            taken: 0,
        };
        // What cannot be read is for the decoder to tell.
        let is_gzip = counting.fill_buf().map_or(true, |start| {
            let mut pairs = start.iter().zip(MAGIC);
            pairs.all(|(byte, magic)| *byte == magic)
        });
        Inflate {
            decoder: MultiGzDecoder::new(counting),
            is_gzip,
            given: 0,
            ratio,
        }
    }
}

impl<R: Read> Read for Inflate<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_gzip {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not gzipped"));
        }
        let read = self.decoder.read(buffer)?;
        self.given += read as u64;
        if self.given > FREE && self.given / self.ratio.max(1) > self.decoder.get_ref().taken {
            return Err(io::Error::other(Exceeded));
        }
        Ok(read)
    }
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.taken += read as u64;
        Ok(read)
    }
}

impl<R: Read> BufRead for Counting<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount as u64;
        self.inner.consume(amount);
    }
}
