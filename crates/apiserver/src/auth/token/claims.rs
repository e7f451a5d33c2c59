//! What a token says.

use model::{Map, Str, Value, value};

use crate::auth::user::service_account_name;

/// What a token says. Times are seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// Whom the token is meant for.
    pub audiences: Vec<Str>,
    /// When it was issued; it is not valid before.
    pub issued: i64,
    /// When it ends.
    pub expires: i64,
    /// The token's own identity.
    pub id: Str,
    /// Namespace of the service account.
    pub namespace: Str,
    /// The service account.
    pub service_account: Reference,
    /// The pod it is valid as long as.
    pub pod: Option<Reference>,
    /// The secret it is valid as long as.
    pub secret: Option<Reference>,
    /// The node it is valid as long as or, beside a pod, the node of the pod.
    pub node: Option<Reference>,
    /// When its user should have fetched a new one; it is still accepted after that.
    pub warn_after: Option<i64>,
}

/// An object, by name and identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// Name of the object.
    pub name: Str,
    /// UID of the object; empty where it is not known.
    pub uid: Str,
}

impl Claims {
    /// The claims as the payload of a token.
    pub(super) fn to_value(&self, issuer: &str) -> Value {
        let mut kubernetes = Map::new();
        kubernetes.insert("namespace", self.namespace.clone());
        for (key, reference) in [("node", &self.node), ("pod", &self.pod), ("secret", &self.secret)] {
            if let Some(reference) = reference {
                kubernetes.insert(key, reference.to_value());
            }
        }
        kubernetes.insert("serviceaccount", self.service_account.to_value());
        if let Some(seconds) = self.warn_after {
            kubernetes.insert("warnafter", seconds);
        }
        value!({
            "aud": (self.audiences.iter().cloned().collect::<Value>()),
            "exp": (self.expires),
            "iat": (self.issued),
            "iss": issuer,
            "jti": (self.id.clone()),
            "kubernetes.io": kubernetes,
            "nbf": (self.issued),
            "sub": (service_account_name(&self.namespace, &self.service_account.name)),
        })
    }

    /// Reads a payload; `None` if it is not one that this server wrote.
    pub(super) fn from_value(payload: &Value) -> Option<Self> {
        let kubernetes = payload.get("kubernetes.io")?;
        let seconds = |key| payload.get(key).and_then(Value::as_i64);
        let reference = |key| kubernetes.get(key).map(Reference::from_value);
        Some(Claims {
            audiences: payload
                .list_at(&["aud"])
                .iter()
                .filter_map(Value::as_str)
                .map(Str::new)
                .collect(),
            issued: seconds("iat")?,
            expires: seconds("exp")?,
            id: Str::new(payload.str_at(&["jti"])),
            namespace: Str::new(kubernetes.str_at(&["namespace"])),
            service_account: reference("serviceaccount")?,
            pod: reference("pod"),
            secret: reference("secret"),
            node: reference("node"),
            warn_after: kubernetes.get("warnafter").and_then(Value::as_i64),
        })
    }
}

impl Reference {
    /// The reference to an object.
    pub fn to(object: &Value) -> Self {
        let part = |key| Str::new(object.str_at(&["metadata", key]));
        Reference {
            name: part("name"),
            uid: part("uid"),
        }
    }

    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("name", self.name.clone());
        if !self.uid.is_empty() {
            map.insert("uid", self.uid.clone());
        }
        Value::Object(map)
    }

    fn from_value(reference: &Value) -> Self {
        Reference {
            name: Str::new(reference.str_at(&["name"])),
            uid: Str::new(reference.str_at(&["uid"])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(name: &str, uid: &str) -> Reference {
        Reference {
            name: name.into(),
            uid: uid.into(),
        }
    }

    // The payload is one that kube-apiserver v1.35.8 issued.
    #[test]
    fn the_payload_is_that_of_the_real_server() {
        let claims = Claims {
            audiences: vec!["https://kubernetes.default.svc".into()],
            issued: 1_794_772_828,
            expires: 1_826_308_828,
            id: "0ff03ddb-4e6c-48b0-901a-c5c0f3edd2e9".into(),
            namespace: "auth".into(),
            service_account: reference("gone", "e7cc94d7-881b-4614-aa7b-acea92695403"),
            pod: Some(reference("p1", "a43af065-9575-46c6-b67e-cc733be67856")),
            node: Some(reference("nonode", "")),
            secret: None,
            warn_after: Some(1_794_776_435),
        };
        let payload = claims.to_value("https://kubernetes.default.svc");
        assert_eq!(
            model::json::to_string(&payload),
            r#"{"aud":["https://kubernetes.default.svc"],"exp":1826308828,"iat":1794772828,"iss":"https://kubernetes.default.svc","jti":"0ff03ddb-4e6c-48b0-901a-c5c0f3edd2e9","kubernetes.io":{"namespace":"auth","node":{"name":"nonode"},"pod":{"name":"p1","uid":"a43af065-9575-46c6-b67e-cc733be67856"},"serviceaccount":{"name":"gone","uid":"e7cc94d7-881b-4614-aa7b-acea92695403"},"warnafter":1794776435},"nbf":1794772828,"sub":"system:serviceaccount:auth:gone"}"#
        );
        assert_eq!(Claims::from_value(&payload), Some(claims));
    }
}
