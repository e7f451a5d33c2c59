//! The five formats, and how Flux tells them apart.

use std::fmt;

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Any bytes; encrypted, they are the one value of a JSON object.
    Binary,
    /// Lines of `KEY=value`.
    Dotenv,
    /// Sections of keys.
    Ini,
    /// A JSON object.
    Json,
    /// Documents of YAML.
    Yaml,
}

impl Format {
    /// The format of a file, or of a key of a Secret, by how its name ends.
    pub fn for_path(path: &str) -> Format {
        let ends = |suffix: &str| path.ends_with(suffix);
        if ends(".dockerconfigjson") || ends(".json") {
            Format::Json
        } else if ends(".yaml") || ends(".yml") {
            Format::Yaml
        } else if ends(".env") {
            Format::Dotenv
        } else if ends(".ini") {
            Format::Ini
        } else {
            Format::Binary
        }
    }

    /// The format of an `envs` file of a generator: what has no telling name is dotenv.
    pub fn for_env_path(path: &str) -> Format {
        match Format::for_path(path) {
            Format::Binary => Format::Dotenv,
            other => other,
        }
    }

    /// The text that every encrypted file of this format has somewhere. A file without it is not looked at.
    fn marker(self) -> &'static [u8] {
        match self {
            Format::Binary | Format::Json => b"\"mac\": \"ENC[",
            Format::Dotenv => b"sops_mac=ENC[",
            Format::Ini => b"[sops]",
            Format::Yaml => b"mac: ENC[",
        }
    }

    /// Whether a file of this format looks encrypted.
    pub fn is_encrypted(self, data: &[u8]) -> bool {
        contains(data, self.marker())
    }

    /// The format that encrypted data of a Secret is in; `None` for data that is not encrypted.
    ///
    /// Flux tries the markers in no particular order. Where several are there, the order here is the one in which the
    /// data can be read: a whole document of one format may be a value in another.
    pub fn detect(data: &[u8]) -> Option<Format> {
        let first = data.iter().copied().find(|byte| !byte.is_ascii_whitespace());
        let formats = match first {
            Some(b'{') => [Format::Json, Format::Yaml, Format::Dotenv, Format::Ini],
            _ => [Format::Dotenv, Format::Ini, Format::Yaml, Format::Json],
        };
        formats.into_iter().find(|format| format.is_encrypted(data))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Binary => "binary",
            Format::Dotenv => "dotenv",
            Format::Ini => "INI",
            Format::Json => "JSON",
            Format::Yaml => "YAML",
        })
    }
}

fn contains(data: &[u8], wanted: &[u8]) -> bool {
    data.windows(wanted.len()).any(|window| window == wanted)
}
