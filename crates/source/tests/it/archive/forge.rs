//! Archives that no honest program writes.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A tar archive made block by block.
#[derive(Default)]
pub(super) struct Forged(Vec<u8>);

impl Forged {
    pub(super) fn new() -> Self {
        Forged::default()
    }

    /// An entry whose header says what the content is, or not.
    pub(super) fn entry(self, kind: u8, name: &str, content: &[u8]) -> Self {
        self.entry_of_size(kind, name, content.len() as u64, content)
    }

    pub(super) fn file(self, name: &str, content: &str) -> Self {
        self.entry(b'0', name, content.as_bytes())
    }

    /// An entry whose header claims a size of its own.
    pub(super) fn entry_of_size(mut self, kind: u8, name: &str, size: u64, content: &[u8]) -> Self {
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        if size < 1 << 33 {
            header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        } else {
            // The binary form of large numbers.
            header[124] = 0x80;
            header[128..136].copy_from_slice(&size.to_be_bytes());
        }
        header[156] = kind;
        header[157..161].copy_from_slice(b"/etc");
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        self.0.extend_from_slice(&header);
        self.0.extend_from_slice(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    pub(super) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// The archive with its end, compressed.
    pub(super) fn gzip(self) -> Vec<u8> {
        self.raw(&[0; 1024]).gzip_without_end()
    }

    pub(super) fn gzip_without_end(self) -> Vec<u8> {
        compress(&self.0)
    }
}

pub(super) fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
