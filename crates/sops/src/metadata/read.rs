//! Reads metadata from its tree, as leniently as SOPS does: a number may be written as a text and a text as a number.

use super::{AwsKmsKey, AzureKey, GcpKmsKey, Metadata, Recipient, Sealed, VaultKey};
use crate::error::Error;
use crate::format::Format;
use crate::limits::{MAX_ENCRYPTED_KEY, MAX_RECIPIENTS};
use crate::number;
use crate::rules::{self, Rule};
use crate::tree::{Item, Value};

/// What is written if a file does not say which of its values are encrypted.
const DEFAULT_SUFFIX: &str = "_unencrypted";

pub(crate) fn metadata(branch: &[Item], format: Format) -> Result<Metadata, Error> {
    let complain = |reason: &str| Error::Metadata {
        format,
        reason: reason.to_owned(),
    };
    let fields = Fields(branch);
    let single = group(&fields);
    let groups = if single.is_empty() {
        fields.list("key_groups").map(|fields| group(&fields)).collect()
    } else {
        vec![single]
    };
    let recipients = groups.iter().flatten();
    if recipients.clone().next().is_none() {
        return Err(complain("no keys found in file"));
    }
    if recipients.clone().count() > MAX_RECIPIENTS {
        return Err(complain("it has too many recipients"));
    }
    if recipients
        .clone()
        .any(|sealed| sealed.ciphertext.len() > MAX_ENCRYPTED_KEY)
    {
        return Err(complain("an encrypted data key is too long"));
    }
    let last_modified = fields.text("lastmodified");
    let last_modified = seconds(&last_modified).ok_or_else(|| complain("lastmodified is no time"))?;
    Ok(Metadata {
        threshold: fields.text("shamir_threshold").parse().unwrap_or(0),
        groups,
        last_modified,
        mac: fields.text("mac"),
        mac_only_encrypted: matches!(
            fields.text("mac_only_encrypted").as_str(),
            "1" | "t" | "T" | "true" | "TRUE" | "True"
        ),
        rule: rule(&fields, format)?,
    })
}

/// A time without fractions of seconds, as the MAC is bound to it.
fn seconds(text: &str) -> Option<String> {
    text.parse::<jiff::Timestamp>().ok()?;
    let Some((whole, fraction)) = text.split_once('.') else {
        return Some(text.to_owned());
    };
    let zone = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
    Some(format!("{whole}{zone}"))
}

fn rule(fields: &Fields<'_>, format: Format) -> Result<Rule, Error> {
    let names = [
        "unencrypted_suffix",
        "encrypted_suffix",
        "unencrypted_regex",
        "encrypted_regex",
        "unencrypted_comment_regex",
        "encrypted_comment_regex",
    ];
    let mut given = names
        .into_iter()
        .map(|name| (name, fields.text(name)))
        .filter(|(_, text)| !text.is_empty());
    let Some((name, text)) = given.next() else {
        return Ok(Rule::UnencryptedSuffix(DEFAULT_SUFFIX.to_owned()));
    };
    if let Some((second, _)) = given.next() {
        let reason = format!("{name} and {second} cannot be used together");
        return Err(Error::Metadata { format, reason });
    }
    Ok(match name {
        "unencrypted_suffix" => Rule::UnencryptedSuffix(text),
        "encrypted_suffix" => Rule::EncryptedSuffix(text),
        "unencrypted_regex" => Rule::UnencryptedRegex(rules::regex(name, &text)?),
        "encrypted_regex" => Rule::EncryptedRegex(rules::regex(name, &text)?),
        "unencrypted_comment_regex" => Rule::UnencryptedComment(rules::regex(name, &text)?),
        _ => Rule::EncryptedComment(rules::regex(name, &text)?),
    })
}

/// The recipients of a group, in the order in which they are tried.
fn group(fields: &Fields<'_>) -> Vec<Sealed> {
    type Read = fn(&Fields<'_>) -> Recipient;
    let kinds: [(&str, Read); 7] = [
        ("kms", |key| Recipient::AwsKms(aws(key))),
        ("gcp_kms", |key| {
            Recipient::GcpKms(GcpKmsKey {
                resource_id: key.text("resource_id"),
            })
        }),
        ("hckms", |key| Recipient::HuaweiKms(key.text("key_id"))),
        ("azure_kv", |key| {
            Recipient::AzureKeyVault(AzureKey {
                vault_url: key.text("vault_url"),
                name: key.text("name"),
                version: key.text("version"),
            })
        }),
        ("hc_vault", |key| {
            Recipient::Vault(VaultKey {
                address: key.text("vault_address"),
                engine_path: key.text("engine_path"),
                key_name: key.text("key_name"),
            })
        }),
        ("pgp", |key| Recipient::Pgp(key.text("fp"))),
        ("age", |key| Recipient::Age(key.text("recipient"))),
    ];
    let mut group: Vec<Sealed> = Vec::new();
    for (name, read) in kinds {
        group.extend(fields.list(name).map(|key| Sealed {
            recipient: read(&key),
            ciphertext: key.text("enc"),
        }));
    }
    group.sort_by_key(|sealed| sealed.recipient.rank());
    group
}

fn aws(key: &Fields<'_>) -> AwsKmsKey {
    let context = match key.get("context") {
        Some(Value::Map(branch)) => branch
            .iter()
            .filter_map(|item| match item {
                Item::Entry(name, value) => Some((name.clone(), text(value))),
                Item::Comment(_) => None,
            })
            .collect(),
        _ => Default::default(),
    };
    AwsKmsKey {
        arn: key.text("arn"),
        role: Some(key.text("role")).filter(|role| !role.is_empty()),
        context,
    }
}

/// The fields of a map of the metadata.
struct Fields<'a>(&'a [Item]);

impl<'a> Fields<'a> {
    /// The last of equal keys wins.
    fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.iter().rev().find_map(|item| match item {
            Item::Entry(key, value) if key == name => Some(value),
            _ => None,
        })
    }

    fn text(&self, name: &str) -> String {
        self.get(name).map(text).unwrap_or_default()
    }

    /// The maps in a list; a map that stands alone is a list of one.
    fn list(&self, name: &str) -> impl Iterator<Item = Fields<'a>> + use<'a> {
        let items = match self.get(name) {
            Some(Value::List(items)) => items.as_slice(),
            Some(map @ Value::Map(branch)) if !branch.is_empty() => std::slice::from_ref(map),
            _ => &[],
        };
        items.iter().filter_map(|item| match item {
            Value::Map(branch) => Some(Fields(branch)),
            _ => None,
        })
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number::plain(*number),
        Value::Bool(flag) => if *flag { "1" } else { "0" }.to_owned(),
        Value::Time(text) => text.clone(),
        _ => String::new(),
    }
}
