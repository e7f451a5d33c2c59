//! Time and randomness for templates.

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use gotemplate::World;

/// How many bytes stand before the key itself where it is wrapped as PKCS #8: for keys of these sizes always the same.
const PKCS8_HEADER: usize = 26;

/// This machine.
pub struct Machine;

/// This machine, and the names that it can look up.
pub(super) struct WithNames(pub(super) bool);

impl World for WithNames {
    fn now(&mut self) -> jiff::Timestamp {
        Machine.now()
    }

    fn local_zone(&mut self) -> jiff::tz::TimeZone {
        Machine.local_zone()
    }

    fn zone(&mut self, name: &str) -> Option<jiff::tz::TimeZone> {
        Machine.zone(name)
    }

    fn random(&mut self, bytes: &mut [u8]) {
        Machine.random(bytes);
    }

    fn rsa_key(&mut self, bits: usize) -> Option<Vec<u8>> {
        Machine.rsa_key(bits)
    }

    fn host_addresses(&mut self, name: &str) -> Vec<String> {
        if !self.0 {
            return Vec::new();
        }
        // Only addresses are wanted, and any port leads to them.
        let found = std::net::ToSocketAddrs::to_socket_addrs(&(name, 0));
        let addresses = found.into_iter().flatten();
        addresses.map(|address| address.ip().to_string()).collect()
    }
}

impl World for Machine {
    fn now(&mut self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }

    fn local_zone(&mut self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::system()
    }

    fn zone(&mut self, name: &str) -> Option<jiff::tz::TimeZone> {
        jiff::tz::TimeZone::get(name).ok()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        // Without randomness no secret may be made. The library for keys would first gather some of its own, which takes longer
        // than most charts.
        getrandom::fill(bytes).expect("the system has a source of randomness");
    }

    fn rsa_key(&mut self, bits: usize) -> Option<Vec<u8>> {
        let size = match bits {
            2048 => KeySize::Rsa2048,
            3072 => KeySize::Rsa3072,
            4096 => KeySize::Rsa4096,
            _ => return None,
        };
        let key = KeyPair::generate(size).ok()?;
        let wrapped: Pkcs8V1Der<'_> = key.as_der().ok()?;
        Some(wrapped.as_ref().get(PKCS8_HEADER..)?.to_vec())
    }
}
