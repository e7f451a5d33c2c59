//! Time, randomness and names, which this crate has none of itself.

/// What functions know of the world outside. Whoever renders says what it is, so that a rendering can be repeated.
pub trait World {
    /// The time now: seconds and nanoseconds since 1970.
    fn now(&mut self) -> jiff::Timestamp;

    /// The zone that times are shown in where none is named: Go's `time.Local`.
    fn local_zone(&mut self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::UTC
    }

    /// The zone of a name such as `Europe/Berlin`. `UTC` and `Local` are not asked for.
    fn zone(&mut self, name: &str) -> Option<jiff::tz::TimeZone> {
        let _ = name;
        None
    }

    /// Fills `bytes` with random ones: passwords and keys are made of them.
    fn random(&mut self, bytes: &mut [u8]);

    /// An RSA key of so many bits in PKCS #1, where the world makes such keys faster than they can be made out of
    /// [`World::random`]; otherwise they are made out of that.
    fn rsa_key(&mut self, bits: usize) -> Option<Vec<u8>> {
        let _ = bits;
        None
    }

    /// The addresses of a host, for `getHostByName`. None where names are not looked up, and `""` is what the function gives.
    fn host_addresses(&mut self, name: &str) -> Vec<String> {
        let _ = name;
        Vec::new()
    }
}

/// A world that is always the same: a fixed time, and randomness out of a seed.
#[derive(Clone, Debug)]
pub struct FixedWorld {
    now: jiff::Timestamp,
    state: u64,
}

impl FixedWorld {
    /// A world at that time with the randomness of that seed.
    pub fn new(now: jiff::Timestamp, seed: u64) -> FixedWorld {
        FixedWorld { now, state: seed }
    }
}

impl World for FixedWorld {
    fn now(&mut self) -> jiff::Timestamp {
        self.now
    }

    /// SplitMix64: the same bytes for the same seed, on every machine. It is no source of secrets.
    fn random(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^= mixed >> 31;
            chunk.copy_from_slice(&mixed.to_le_bytes()[..chunk.len()]);
        }
    }
}
