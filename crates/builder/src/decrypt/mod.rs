//! Encrypted files and objects, made readable by a decrypter that is handed in.
//!
//! What is encrypted is seen by marks in its text, as Flux sees it; what is not stays as it is.

mod files;
mod objects;

pub(crate) use files::files;
pub use objects::is_encrypted_secret;
pub(crate) use objects::objects;

/// Decrypts what was encrypted with SOPS.
pub trait Decrypter {
    /// The plain content, in the form `to`. The message of an error must have no plain text in it.
    ///
    /// # Errors
    /// Says why it cannot be decrypted: no key fits, or it is not what it seems.
    fn decrypt(&self, content: &[u8], from: Format, to: Format) -> Result<Vec<u8>, String>;
}

/// The form of an encrypted or a plain file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Any bytes; encrypted, they are in a JSON envelope.
    Binary,
    /// `NAME=value` lines.
    Dotenv,
    /// Sections of `name = value` lines.
    Ini,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

impl Format {
    /// The form that a file or an entry of this name has.
    pub fn of_name(name: &str) -> Format {
        let endings = [
            (".dockerconfigjson", Format::Json),
            (".yaml", Format::Yaml),
            (".yml", Format::Yaml),
            (".json", Format::Json),
            (".env", Format::Dotenv),
            (".ini", Format::Ini),
        ];
        let found = endings.into_iter().find(|(ending, _)| name.ends_with(ending));
        found.map_or(Format::Binary, |(_, format)| format)
    }

    /// What is in every file of this form that is encrypted.
    fn mark(self) -> &'static [u8] {
        match self {
            Format::Binary | Format::Json => b"\"mac\": \"ENC[",
            Format::Dotenv => b"sops_mac=ENC[",
            Format::Ini => b"[sops]",
            Format::Yaml => b"mac: ENC[",
        }
    }

    /// Whether the content is encrypted, if it has this form.
    fn is_encrypted(self, content: &[u8]) -> bool {
        let mark = self.mark();
        content.windows(mark.len()).any(|part| part == mark)
    }

    /// The form of encrypted content; `None` if it is not encrypted.
    fn of_encrypted(content: &[u8]) -> Option<Format> {
        // The envelope of any bytes is JSON, and so both have the same mark and are read alike.
        let forms = [Format::Json, Format::Dotenv, Format::Ini, Format::Yaml];
        forms.into_iter().find(|form| form.is_encrypted(content))
    }
}
