//! One kind on a cluster of its own.

use serde_json::{Value, json};
use testkit::Cluster;

/// A kind that is served under a group of this test, so that tests on a real cluster do not meet.
pub(crate) struct Served {
    cluster: Cluster,
    group: String,
    plural: String,
    kind: String,
    namespace: String,
}

impl Served {
    /// Starts a cluster that serves the kind.
    pub(crate) async fn start(kind: &str) -> Served {
        let cluster = Cluster::start().await;
        let namespace = cluster.namespace("api").await;
        let definitions = api::definitions();
        let definition = definitions
            .iter()
            .find(|definition| definition.names().kind == kind)
            .unwrap();
        let mut value = serde_json::to_value(definition.to_value()).unwrap();
        let group = format!("{}.{}", cluster.prefix(), definition.names().group);
        let plural = definition.names().plural.to_owned();
        value["metadata"]["name"] = json!(format!("{plural}.{group}"));
        value["spec"]["group"] = json!(group);
        cluster.establish(&value).await;
        Served {
            cluster,
            group,
            plural,
            kind: kind.to_owned(),
            namespace,
        }
    }

    /// Creates an object. The error is what the server says.
    pub(crate) async fn create(&self, version: &str, name: &str, spec: &Value) -> Result<Value, String> {
        let request = http::Request::post(format!("{}?fieldValidation=Strict", self.path(version)))
            .header("content-type", "application/json")
            .body(self.object(version, name, spec).to_string().into_bytes())
            .unwrap();
        self.send(request).await
    }

    /// Applies an object on the server. The error is what the server says.
    pub(crate) async fn apply(&self, version: &str, name: &str, spec: &Value) -> Result<Value, String> {
        let path = format!(
            "{}/{name}?fieldManager=test&fieldValidation=Strict",
            self.path(version)
        );
        let request = http::Request::patch(path)
            .header("content-type", "application/apply-patch+yaml")
            .body(self.object(version, name, spec).to_string().into_bytes())
            .unwrap();
        self.send(request).await
    }

    fn object(&self, version: &str, name: &str, spec: &Value) -> Value {
        json!({
            "apiVersion": format!("{}/{version}", self.group),
            "kind": self.kind,
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": spec,
        })
    }

    async fn send(&self, request: http::Request<Vec<u8>>) -> Result<Value, String> {
        self.cluster
            .client()
            .request(request)
            .await
            .map_err(|error| error.to_string())
    }

    /// Reads an object.
    pub(crate) async fn read(&self, version: &str, name: &str) -> Value {
        let request = http::Request::get(format!("{}/{name}", self.path(version)))
            .body(Vec::new())
            .unwrap();
        self.cluster.client().request(request).await.unwrap()
    }

    /// What is served of a version, as programs discover it.
    pub(crate) async fn resources(&self, version: &str) -> Value {
        self.get(&format!("/apis/{}/{version}", self.group), "application/json")
            .await
    }

    /// An object as `kubectl get` shows it.
    pub(crate) async fn table(&self, version: &str, name: &str) -> Value {
        let path = format!("{}/{name}", self.path(version));
        self.get(&path, "application/json;as=Table;v=v1;g=meta.k8s.io")
            .await
    }

    /// The definition of the kind.
    pub(crate) async fn definition(&self) -> Value {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let path = format!("{path}/{}.{}", self.plural, self.group);
        self.get(&path, "application/json").await
    }

    async fn get(&self, path: &str, accept: &str) -> Value {
        let request = http::Request::get(path)
            .header("accept", accept)
            .body(Vec::new())
            .unwrap();
        self.send(request).await.unwrap()
    }

    /// Merges into the status of an object, as a controller does. The error is what the server says.
    pub(crate) async fn set_status(
        &self,
        version: &str,
        name: &str,
        status: &Value,
    ) -> Result<Value, String> {
        let request = http::Request::patch(format!("{}/{name}/status", self.path(version)))
            .header("content-type", "application/merge-patch+json")
            .body(json!({"status": status}).to_string().into_bytes())
            .unwrap();
        self.send(request).await
    }

    fn path(&self, version: &str) -> String {
        format!(
            "/apis/{}/{version}/namespaces/{}/{}",
            self.group, self.namespace, self.plural
        )
    }

    /// Removes what the test made.
    pub(crate) async fn finish(self) {
        self.cluster.finish().await;
    }
}
