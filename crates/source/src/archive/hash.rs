//! Digests of what is written or read, computed on the way.

use std::io::{self, Read, Write};

use model::Digest;
use model::digest::Algorithm;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// A digest in the making.
#[derive(Clone)]
pub struct Hasher(State);

#[derive(Clone)]
enum State {
    Sha1(Sha1),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
    Blake3(Box<blake3::Hasher>),
}

impl Hasher {
    /// Of nothing yet.
    pub fn new(algorithm: Algorithm) -> Self {
        Hasher(match algorithm {
            Algorithm::Sha1 => State::Sha1(Sha1::new()),
            Algorithm::Sha256 => State::Sha256(Sha256::new()),
            Algorithm::Sha384 => State::Sha384(Sha384::new()),
            Algorithm::Sha512 => State::Sha512(Sha512::new()),
            Algorithm::Blake3 => State::Blake3(Box::default()),
        })
    }

    /// The digest of some bytes.
    pub fn digest(algorithm: Algorithm, bytes: &[u8]) -> Digest {
        let mut hasher = Hasher::new(algorithm);
        hasher.update(bytes);
        hasher.finish()
    }

    /// The digest and the number of bytes of everything that is left to read.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn digest_of(algorithm: Algorithm, mut content: impl Read) -> io::Result<(Digest, u64)> {
        let mut hashing = Hashing::new(algorithm, io::sink());
        let mut buffer = vec![0; 128 * 1024];
        loop {
            match content.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => hashing.write_all(&buffer[..read])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let (_, digest, size) = hashing.finish();
        Ok((digest, size))
    }

    /// Takes more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Sha1(state) => state.update(bytes),
            State::Sha256(state) => state.update(bytes),
            State::Sha384(state) => state.update(bytes),
            State::Sha512(state) => state.update(bytes),
            State::Blake3(state) => {
                state.update(bytes);
            }
        }
    }

    /// The digest of everything taken.
    pub fn finish(self) -> Digest {
        let (algorithm, bytes) = match self.0 {
            State::Sha1(state) => (Algorithm::Sha1, state.finalize().to_vec()),
            State::Sha256(state) => (Algorithm::Sha256, state.finalize().to_vec()),
            State::Sha384(state) => (Algorithm::Sha384, state.finalize().to_vec()),
            State::Sha512(state) => (Algorithm::Sha512, state.finalize().to_vec()),
            State::Blake3(state) => (Algorithm::Blake3, state.finalize().as_bytes().to_vec()),
        };
        Digest::new(algorithm, &bytes).expect("a hash function gives digests of its own length")
    }
}

/// A writer that hands everything on and knows its digest and size.
pub struct Hashing<W> {
    inner: W,
    hasher: Hasher,
    size: u64,
}

impl<W> Hashing<W> {
    /// Hands on to `inner`.
    pub fn new(algorithm: Algorithm, inner: W) -> Self {
        Hashing {
            inner,
            hasher: Hasher::new(algorithm),
            size: 0,
        }
    }

    /// The inner writer, the digest and the number of bytes of all that was written.
    pub fn finish(self) -> (W, Digest, u64) {
        (self.inner, self.hasher.finish(), self.size)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_well_known_programs() {
        let answers = [
            "sha1:a9993e364706816aba3e25717850c26c9cd0d89d",
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "sha384:cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
            "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            "blake3:6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
        ];
        for (algorithm, answer) in Algorithm::ALL.into_iter().zip(answers) {
            assert_eq!(Hasher::digest(algorithm, b"abc").to_string(), answer);
            let (digest, size) = Hasher::digest_of(algorithm, &b"abc"[..]).unwrap();
            assert_eq!((digest.to_string().as_str(), size), (answer, 3));
        }
    }
}
