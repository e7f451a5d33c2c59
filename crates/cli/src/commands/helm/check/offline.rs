//! `--validate`: whether Kubernetes would take the objects, without one. They are applied to the embedded API, which knows the built-in kinds
//! and checks them as Kubernetes does, and to which the definitions of the release are added first.
//!
//! What depends on more than the release (a service account or a priority class that somebody else brings) is not known here, and is no
//! failure. Kinds that the release does not define and Kubernetes does not have are one, unless `--api-versions` says that they are there:
//! then their objects are left unchecked.

use std::collections::BTreeSet;

use anyhow::bail;
use apiserver::Server;
use engine::cluster::{Apply, Cluster, Error, Resource, Validation, Write};
use helm::print;
use helm::release::Rendered;
use model::object_key::split_api_version;
use model::{Value, value};
use tokio::runtime::Builder;

use super::{Object, definitions, hooks, manifests};

const MANAGER: &str = "helm";

/// What is checked, and what is known besides it.
pub(in crate::commands::helm) struct Question<'q> {
    pub(in crate::commands::helm) rendered: &'q Rendered,
    /// Which hooks belong to it.
    pub(in crate::commands::helm) options: &'q print::Options,
    /// The namespace of the release.
    pub(in crate::commands::helm) namespace: &'q str,
    /// Versions of APIs, or kinds in them, that are there.
    pub(in crate::commands::helm) api_versions: &'q [String],
}

/// Fails with all that is wrong, and tells what was not looked at.
pub(in crate::commands::helm) fn check(question: &Question<'_>) -> anyhow::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let found = runtime.block_on(look(question))?;
    for kind in &found.unchecked {
        eprintln!("not checked, as nothing defines it: {kind}");
    }
    match found.problems.as_slice() {
        [] => Ok(()),
        problems => bail!(
            "{} that Kubernetes would not take:\n  {}",
            match problems.len() {
                1 => "the chart makes an object".to_owned(),
                count => format!("the chart makes {count} objects"),
            },
            problems.join("\n  ")
        ),
    }
}

#[derive(Default)]
struct Found {
    problems: Vec<String>,
    unchecked: BTreeSet<String>,
}

async fn look(question: &Question<'_>) -> anyhow::Result<Found> {
    let Question {
        rendered, options, ..
    } = *question;
    let others = manifests(rendered)?.into_iter().chain(hooks(rendered, options)?);
    let (mut first, mut others): (Vec<_>, Vec<_>) = others.partition(Object::is_definition);
    first.splice(0..0, definitions(rendered)?);
    let server = Server::builder().start();
    let client = engine::kube::Client::new(server.service(), "default");
    let mut api = Api {
        cluster: Cluster::new(client),
        question,
        found: Found::default(),
    };
    api.make_namespaces(&others).await?;
    server.settled().await;
    for object in &mut first {
        api.apply(object).await?;
    }
    server.settled().await;
    api.cluster.discovery_changed();
    for object in &mut others {
        api.apply(object).await?;
    }
    server.stop();
    Ok(api.found)
}

struct Api<'q> {
    cluster: Cluster,
    question: &'q Question<'q>,
    found: Found,
}

impl Api<'_> {
    /// Namespaces that objects lie in are there, whoever makes them.
    async fn make_namespaces(&self, objects: &[Object]) -> anyhow::Result<()> {
        let named = objects.iter().map(Object::namespace);
        let names: BTreeSet<&str> = named.chain([self.question.namespace]).collect();
        let resource = self.cluster.resource("", "v1", "Namespace").await?;
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            let namespace =
                value!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": (name) } });
            // One whose name is none is told with the objects in it.
            let _ = self
                .cluster
                .apply(&resource, &namespace, &Apply::by(MANAGER))
                .await;
        }
        Ok(())
    }

    async fn apply(&mut self, object: &mut Object) -> anyhow::Result<()> {
        if let Some(problem) = unnamed(&object.value) {
            self.tell(object, problem);
            return Ok(());
        }
        let (group, version) = split_api_version(object.api_version());
        let resource = match self.cluster.resource(group, version, object.kind()).await {
            Ok(resource) => resource,
            Err(error @ Error::NoSuchKind { .. }) => {
                self.tell_unknown(object, &error);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        if resource.namespaced && object.namespace().is_empty() {
            object
                .value
                .set_at(&["metadata", "namespace"], self.question.namespace);
        }
        match self.write(&resource, object).await {
            Ok(_) => {}
            Err(
                Error::Invalid(refusal)
                | Error::Immutable(refusal)
                | Error::Rejected(refusal)
                | Error::Server(refusal),
            ) => self.tell(object, &refusal.message),
            // These are about what else is in a cluster.
            Err(Error::Forbidden(_) | Error::NotFound(_) | Error::Conflict(_) | Error::AlreadyExists(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Writes an object as Helm does: unknown fields are failures.
    async fn write(&self, resource: &Resource, object: &Object) -> Result<Value, Error> {
        if object.name().is_empty() {
            let options = Write {
                validation: Validation::Strict,
                ..Write::by(MANAGER)
            };
            return self.cluster.create(resource, &object.value, &options).await;
        }
        let options = Apply {
            validation: Validation::Strict,
            ..Apply::by(MANAGER)
        };
        self.cluster.apply(resource, &object.value, &options).await
    }

    fn tell(&mut self, object: &Object, problem: &str) {
        let place = match object.namespace() {
            "" => object.name().to_owned(),
            namespace => format!("{namespace}/{}", object.name()),
        };
        let problem = format!("{}: {} {place}: {problem}", object.path, object.kind());
        self.found.problems.push(problem);
    }

    fn tell_unknown(&mut self, object: &Object, error: &Error) {
        let version = object.api_version();
        let kind = format!("{version}/{}", object.kind());
        let said = &self.question.api_versions;
        if said.iter().any(|said| said == version || *said == kind) {
            self.found.unchecked.insert(kind);
            return;
        }
        let remedy = format!(
            "{error}: the chart brings no definition of it; --api-versions {kind} says that there is one, and leaves such objects unchecked"
        );
        self.tell(object, &remedy);
    }
}

/// What a document lacks to be an object.
fn unnamed(value: &Value) -> Option<&'static str> {
    match value {
        Value::Object(_) if value.str_at(&["apiVersion"]).is_empty() => Some("apiVersion not set"),
        Value::Object(_) if value.str_at(&["kind"]).is_empty() => Some("kind not set"),
        Value::Object(_) => None,
        _ => Some("the document is no object"),
    }
}
