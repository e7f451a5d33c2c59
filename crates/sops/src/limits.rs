//! How much of a file is taken: nobody encrypts more by hand, and a hostile file ends early.

/// The size of an encrypted file or value in bytes; what Flux takes.
pub const MAX_SIZE: usize = 5 << 20;

/// The depth of maps and lists in a file.
pub const MAX_DEPTH: usize = 100;

/// The number of recipients of a file, over all its groups.
pub const MAX_RECIPIENTS: usize = 1000;

/// The size of one encrypted data key in bytes.
pub const MAX_ENCRYPTED_KEY: usize = 64 << 10;

/// The number of identities and secret keys that are imported.
pub const MAX_IDENTITIES: usize = 1000;
