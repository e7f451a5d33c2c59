//! The repositories that `helm repo add` has written down: `sluice helm template NAME/CHART` finds charts in them as Helm does.

use std::path::PathBuf;
use std::{env, fs, io};

use anyhow::Context as _;
use model::Value;

use crate::commands::keychain;

/// A repository with a name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Entry {
    pub(super) url: String,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) cert_file: Option<PathBuf>,
    pub(super) key_file: Option<PathBuf>,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) insecure_skip_tls_verify: bool,
    pub(super) pass_credentials: bool,
}

/// The repository of a name, if Helm knows it.
pub(super) fn find(name: &str) -> anyhow::Result<Option<Entry>> {
    let Some(file) = file() else {
        return Ok(None);
    };
    let text = match fs::read(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("failed to read {}", file.display())),
    };
    // What is wrong could be a password.
    let list = yaml::parse(&text)
        .map_err(|error| anyhow::Error::msg(error.without_values()))
        .with_context(|| format!("failed to read {}", file.display()))?;
    Ok(entry(&list, name))
}

/// Where Helm has them.
fn file() -> Option<PathBuf> {
    match env::var_os("HELM_REPOSITORY_CONFIG").filter(|file| !file.is_empty()) {
        Some(file) => Some(file.into()),
        None => Some(keychain::helm_home()?.join("repositories.yaml")),
    }
}

fn entry(list: &Value, name: &str) -> Option<Entry> {
    let entries = list.get("repositories").and_then(Value::as_array)?;
    let entry = entries
        .iter()
        .find(|entry| entry.get("name").and_then(Value::as_str) == Some(name))?;
    let text = |field: &str| {
        let text = entry.get(field).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let flag = |field: &str| matches!(entry.get(field), Some(Value::Bool(true)));
    Some(Entry {
        url: text("url")?,
        username: text("username"),
        password: text("password"),
        cert_file: text("certFile").map(PathBuf::from),
        key_file: text("keyFile").map(PathBuf::from),
        ca_file: text("caFile").map(PathBuf::from),
        insecure_skip_tls_verify: flag("insecure_skip_tls_verify"),
        pass_credentials: flag("pass_credentials_all"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_found_by_its_name() {
        let text = "apiVersion: \"\"\nrepositories:\n- name: one\n  url: https://one.example\n  username: \"\"\n- name: two\n  url: https://two.example\n  username: ada\n  password: geheim\n  pass_credentials_all: true\n";
        let list = yaml::parse(text.as_bytes()).unwrap();
        let plain = Entry {
            url: "https://one.example".to_owned(),
            ..Entry::default()
        };
        assert_eq!(entry(&list, "one"), Some(plain));
        let two = entry(&list, "two").unwrap();
        assert_eq!(two.username.as_deref(), Some("ada"));
        assert!(two.pass_credentials);
        assert_eq!(entry(&list, "three"), None);
    }
}
