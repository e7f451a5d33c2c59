//! The object of the API that a record is kept in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Value;

use super::{Error, Record, codec, decode, encode};

/// The type of such Secrets.
pub const TYPE: &str = "helm.sh/release.v1";

/// How many bytes of data the API takes in a Secret or ConfigMap.
pub const LIMIT: usize = 1 << 20;

/// Labels that are made of the record each time.
const SYSTEM: [&str; 5] = ["name", "owner", "status", "version", "modifiedAt"];
const CREATED: &str = "createdAt";
const OWNER: &str = "helm";

/// The memory of a label besides its text, about.
const LABEL: usize = 64;

/// What kind of objects records are kept in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// Secrets, as Helm does unless it is told otherwise.
    #[default]
    Secret,
    /// ConfigMaps.
    ConfigMap,
}

/// What is done with the object, and when, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Create(i64),
    /// It was there.
    Update(i64),
}

/// A record does not fit into an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "release {namespace}/{name}.v{version} takes {size} bytes packed, and Kubernetes keeps {LIMIT} at most: move files that the chart does not need out of it with .helmignore, or split the chart"
)]
pub struct TooLarge {
    /// Where it is installed.
    pub namespace: String,
    /// The name of the release.
    pub name: String,
    /// Its version.
    pub version: i64,
    /// How many bytes there are.
    pub size: usize,
}

/// Selects the objects of all releases.
pub const OWNED: &str = "owner=helm";

/// The name of the object of a release: `sh.helm.release.v1.NAME.vN`.
pub fn name(release: &str, version: i64) -> String {
    format!("sh.helm.release.v1.{release}.v{version}")
}

/// Selects the objects of all versions of a release.
pub fn selector(release: &str) -> String {
    format!("name={release},owner={OWNER}")
}

/// The object to create, or to replace the one that is there with.
pub fn to_object(
    record: &Record,
    storage_namespace: &str,
    driver: Driver,
    change: Change,
) -> Result<Value, TooLarge> {
    let text = encode(record);
    if text.len() > LIMIT {
        return Err(TooLarge {
            namespace: record.namespace.clone(),
            name: record.name.clone(),
            version: record.version,
            size: text.len(),
        });
    }
    let mut object = Value::object();
    let (kind, data) = match driver {
        Driver::Secret => ("Secret", STANDARD.encode(text)),
        Driver::ConfigMap => ("ConfigMap", text),
    };
    object.set_at(&["apiVersion"], "v1");
    object.set_at(&["kind"], kind);
    object.set_at(&["metadata", "name"], name(&record.name, record.version));
    object.set_at(&["metadata", "namespace"], storage_namespace);
    let mut label = |key: &str, value: &str| object.set_at(&["metadata", "labels", key], value);
    for (key, value) in &record.labels {
        label(key, value);
    }
    match change {
        Change::Create(at) => label(CREATED, &at.to_string()),
        Change::Update(at) => label("modifiedAt", &at.to_string()),
    }
    label("name", &record.name);
    label("owner", OWNER);
    label("status", record.info.status.as_str());
    label("version", &record.version.to_string());
    if driver == Driver::Secret {
        object.set_at(&["type"], TYPE);
    }
    object.set_at(&["data", "release"], data);
    Ok(object)
}

/// Returns the memory that [reading](from_object) the release of a Secret or ConfigMap takes, about and at most.
pub fn memory(object: &Value) -> Result<usize, Error> {
    let text = |(key, value): (&str, &Value)| LABEL + key.len() + value.as_str().map_or(0, str::len);
    let labels = object.at(&["metadata", "labels"]).and_then(Value::as_object);
    let labels: usize = labels.into_iter().flat_map(model::Map::iter).map(text).sum();
    Ok(labels + with_text(object, codec::memory)?)
}

/// Does something with the text of the release of a Secret or ConfigMap.
fn with_text<T>(object: &Value, work: impl FnOnce(&[u8]) -> Result<T, Error>) -> Result<T, Error> {
    let key = || model::ObjectKey::of(object).to_string();
    let failed = |source| Error::Object {
        object: key(),
        source: Box::new(source),
    };
    let text = object.str_at(&["data", "release"]);
    if text.is_empty() {
        return Err(Error::NoRelease { object: key() });
    }
    if object.str_at(&["kind"]) == "ConfigMap" {
        return work(text.as_bytes()).map_err(failed);
    }
    let text = STANDARD.decode(text).map_err(|_| failed(Error::Base64))?;
    work(&text).map_err(failed)
}

/// Reads the release of a Secret or ConfigMap.
pub fn from_object(object: &Value) -> Result<Record, Error> {
    let mut record = with_text(object, decode)?;
    let labels = object.at(&["metadata", "labels"]).and_then(Value::as_object);
    for (key, value) in labels.into_iter().flat_map(model::Map::iter) {
        if let (false, Some(value)) = (SYSTEM.contains(&key), value.as_str()) {
            record.labels.insert(key.to_owned(), value.to_owned());
        }
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Info, Status};

    fn record() -> Record {
        Record {
            name: "web".into(),
            namespace: "shop".into(),
            version: 2,
            info: Info {
                status: Status::Deployed,
                ..Info::default()
            },
            labels: [("team".to_owned(), "a".to_owned())].into(),
            ..Record::default()
        }
    }

    #[test]
    fn objects_are_those_of_helm_and_read_back() {
        let secret = to_object(&record(), "store", Driver::Secret, Change::Create(7)).unwrap();
        let labels = model::json::to_string(secret.at(&["metadata", "labels"]).unwrap());
        assert_eq!(
            labels,
            r#"{"createdAt":"7","name":"web","owner":"helm","status":"deployed","team":"a","version":"2"}"#
        );
        assert_eq!(secret.str_at(&["metadata", "name"]), "sh.helm.release.v1.web.v2");
        assert_eq!(secret.str_at(&["metadata", "namespace"]), "store");
        assert_eq!(secret.str_at(&["type"]), TYPE);
        let read = from_object(&secret).unwrap();
        assert_eq!(read.labels.get(CREATED).map(String::as_str), Some("7"));
        let map = to_object(&read, "store", Driver::ConfigMap, Change::Update(9)).unwrap();
        assert_eq!(map.str_at(&["metadata", "labels", "createdAt"]), "7");
        assert_eq!(map.str_at(&["metadata", "labels", "modifiedAt"]), "9");
        assert!(map.get("type").is_none());
        assert_eq!(from_object(&map).unwrap(), read);
    }

    #[test]
    fn a_record_that_kubernetes_would_not_take_is_refused_with_the_remedy() {
        let mut large = record();
        // Digits that gzip cannot pack well.
        let mut state = 1u64;
        while large.manifest.len() < 7 << 18 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            large.manifest.push_str(&format!("{state:016x}"));
        }
        let error = to_object(&large, "store", Driver::Secret, Change::Create(0)).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("release shop/web.v2 takes "), "{text}");
        assert!(text.contains("Kubernetes keeps 1048576 at most"), "{text}");
        assert!(error.size > LIMIT);
    }

    #[test]
    fn what_holds_no_release_is_named() {
        let mut object = to_object(&record(), "store", Driver::Secret, Change::Create(0)).unwrap();
        object.set_at(&["data", "release"], "?");
        let text = from_object(&object).unwrap_err().to_string();
        assert!(text.starts_with("Secret/store/sh.helm.release.v1.web.v2: the release is not in base64"));
        object.remove_at(&["data"]);
        let text = from_object(&object).unwrap_err().to_string();
        assert_eq!(
            text,
            "Secret/store/sh.helm.release.v1.web.v2 holds no release: it has no data.release"
        );
    }
}
