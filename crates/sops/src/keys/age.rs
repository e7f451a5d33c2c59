//! Age identities: one on each line, with comments and empty lines between them.

use super::{Keys, text};
use crate::age::Identity;
use crate::limits::MAX_IDENTITIES;

impl Keys {
    pub(super) fn import_age(&mut self, value: &[u8]) -> Result<(), String> {
        let mut found = false;
        for (number, line) in text(value)?.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            found = true;
            let at = number + 1;
            if self.age.len() >= MAX_IDENTITIES {
                return Err(format!(
                    "line {at}: there are more than {MAX_IDENTITIES} identities"
                ));
            }
            if line.starts_with("AGE-SECRET-KEY-PQ-1") {
                let identity = Identity::hybrid(line)
                    .ok_or_else(|| format!("line {at}: this is no age identity (AGE-SECRET-KEY-PQ-1...)"))?;
                self.age.push(identity);
            } else if line.starts_with("AGE-PLUGIN-") {
                return Err(format!(
                    "line {at}: identities of age plugins cannot be used here"
                ));
            } else {
                let identity = Identity::x25519(line)
                    .ok_or_else(|| format!("line {at}: this is no age identity (AGE-SECRET-KEY-1...)"))?;
                self.age.push(identity);
            }
        }
        if found {
            Ok(())
        } else {
            Err("there is no age identity (AGE-SECRET-KEY-1...) in it".to_owned())
        }
    }
}
