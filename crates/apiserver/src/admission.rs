//! What is asked of a write besides its own form: a namespace to live in, rights to give away, addresses.

use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::sync::Arc;

use model::Value;

use crate::auth::rbac::{self, RbacKind, escalation};
use crate::auth::{Attributes, Resource as AuthResource};
use crate::builtin::{admission, service};
use crate::catalog::Resource;
use crate::error::{Cause, Error, Result};
use crate::kinds::Served;
use crate::server::State;
use crate::store::{Key, Object, Refused, Write};
use crate::verbs::Call;

impl State {
    /// Refuses new objects in namespaces that are not there or are ending.
    pub(crate) fn admit_namespace(&self, resource: &Resource, namespace: &str, name: &str) -> Result<()> {
        if !resource.namespaced {
            return Ok(());
        }
        let kinds = self.kinds();
        let Some(namespaces) = kinds.get("", "v1", "namespaces") else {
            return Ok(());
        };
        let Some(found) = self
            .store
            .get(&namespaces.resource.storage, &Key::new("", namespace))
        else {
            return Err(Error::not_found("", "namespaces", namespace));
        };
        if !found.meta.deleting {
            return Ok(());
        }
        let why =
            format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut error = Error::forbidden(&resource.group, &resource.plural, name, &why);
        error.details.causes = vec![Cause {
            reason: "NamespaceTerminating".into(),
            message: format!("namespace {namespace} is being terminated"),
            field: "metadata.namespace".into(),
        }];
        Err(error)
    }

    /// Refuses roles and bindings that give more than their author has.
    pub(crate) fn check_escalation(&self, call: &Call<'_>, object: &Value) -> Result<()> {
        let resource = &call.served.resource;
        if resource.group != rbac::GROUP {
            return Ok(());
        }
        let name = object.str_at(&["metadata", "name"]);
        let old = self
            .store
            .get(&resource.storage, &Key::new(call.namespace(), name));
        let old = old.map(|old| call.served.show(&old));
        let verb = call.target.verb(&call.request.method, &call.request.query);
        let about = AuthResource {
            group: &resource.group,
            resource: &resource.plural,
            subresource: "",
            namespace: call.namespace(),
            name,
        };
        let attributes = Attributes::resource(call.user, verb, about);
        escalation::check(&self.rbac.read(), &attributes, object, old.as_ref())
    }

    /// Gives services their addresses and ports.
    pub(crate) fn allocate(&self, served: &Served, object: &mut Value, old: Option<&Value>) -> Result<()> {
        let resource = &served.resource;
        if !resource.group.is_empty() || resource.plural != "services" {
            return Ok(());
        }
        let others = self.store.all(&resource.storage);
        let mut taken = Taken::of(others.iter().map(|other| other.value()));
        match old {
            None => service::allocate(object, &mut taken),
            Some(old) => service::reallocate(object, old, &mut taken),
        }
        Ok(())
    }

    /// What the admission plugins that are on by default add to a new object.
    pub(crate) fn admit(&self, served: &Served, object: &mut Value) -> Result<()> {
        let resource = &served.resource;
        match (resource.group.as_str(), resource.plural.as_str()) {
            ("", "pods") => {
                admission::default_tolerations(object);
                let namespace = object.str_at(&["metadata", "namespace"]).to_owned();
                let account = match object.str_at(&["spec", "serviceAccountName"]) {
                    "" => "default",
                    name => name,
                };
                let found = self.find_core("serviceaccounts", &namespace, account);
                if found.is_none() && account != "default" {
                    let why = format!(
                        "error looking up service account {namespace}/{account}: serviceaccount \"{account}\" not found"
                    );
                    return Err(Error::forbidden(
                        "",
                        "pods",
                        object.str_at(&["metadata", "name"]),
                        &why,
                    ));
                }
                let account = found;
                admission::service_account(object, account.as_ref());
                let named = object.str_at(&["spec", "priorityClassName"]).to_owned();
                let classes = self.all_of("scheduling.k8s.io", "v1", "priorityclasses");
                let class = classes.iter().find(|class| match named.as_str() {
                    "" => class.get("globalDefault").and_then(Value::as_bool) == Some(true),
                    named => class.str_at(&["metadata", "name"]) == named,
                });
                // Names are generated later, so what is refused is told by the beginning of its name.
                let name = match object.str_at(&["metadata", "name"]) {
                    "" => object.str_at(&["metadata", "generateName"]),
                    name => name,
                };
                let name = name.to_owned();
                admission::priority(object, class)
                    .map_err(|why| Error::forbidden("", "pods", &name, &why))?;
            }
            ("", "persistentvolumeclaims") => {
                admission::storage_protection(&resource.kind, object);
                let classes = self.all_of("storage.k8s.io", "v1", "storageclasses");
                admission::default_storage_class(object, classes.iter());
            }
            ("", "persistentvolumes") => admission::storage_protection(&resource.kind, object),
            ("networking.k8s.io", "ingresses") => {
                let classes = self.all_of("networking.k8s.io", "v1", "ingressclasses");
                admission::default_ingress_class(object, classes.iter());
            }
            _ => {}
        }
        Ok(())
    }

    fn all_of(&self, group: &str, version: &str, plural: &str) -> Vec<Value> {
        let kinds = self.kinds();
        let Some(served) = kinds.get(group, version, plural) else {
            return Vec::new();
        };
        self.store
            .all(&served.resource.storage)
            .iter()
            .map(|object| served.show(object))
            .collect()
    }

    /// Does a write. Rights and what is served follow at once, so that the next request finds them.
    pub(crate) fn commit(&self, write: Write) -> std::result::Result<Arc<Object>, Refused> {
        let kind = match write.storage.group.as_str() {
            rbac::GROUP => RbacKind::of_resource(&write.storage.plural),
            _ => None,
        };
        let Some(kind) = kind else {
            return self.store.write(write);
        };
        // Held over the write, so that two writes of one role reach the index in the order of their revisions.
        let mut rbac = self.rbac.write();
        let deletes = write.object.is_none();
        let object = self.store.write(write)?;
        let (namespace, name) = (object.key.namespace(), object.key.name());
        match deletes {
            true => rbac.set(kind, namespace, name, None),
            false => rbac.set(kind, namespace, name, Some(&object.value())),
        }
        Ok(object)
    }
}

/// The addresses and ports that services have.
struct Taken {
    addresses: HashSet<String>,
    ports: HashSet<i64>,
}

/// Services get addresses from here on; the first one is the API's own.
const FIRST_ADDRESS: u32 = u32::from_be_bytes([10, 0, 0, 1]);
const FIRST_PORT: i64 = 30_000;

impl Taken {
    fn of(services: impl Iterator<Item = Value>) -> Self {
        let mut taken = Taken {
            addresses: HashSet::new(),
            ports: HashSet::new(),
        };
        for service in services {
            let addresses = service
                .list_at(&["spec", "clusterIPs"])
                .iter()
                .filter_map(Value::as_str);
            taken.addresses.extend(addresses.map(str::to_owned));
            let ports = service.list_at(&["spec", "ports"]).iter();
            taken
                .ports
                .extend(ports.filter_map(|port| port.get("nodePort")?.as_i64()));
        }
        taken
    }
}

impl service::Allocator for Taken {
    fn address(&mut self) -> String {
        let mut addresses = (FIRST_ADDRESS + 1..).map(|number| Ipv4Addr::from(number).to_string());
        let free = addresses.find(|address| !self.addresses.contains(address));
        let free = free.expect("there are more addresses than services");
        self.addresses.insert(free.clone());
        free
    }

    fn node_port(&mut self) -> i64 {
        let free = (FIRST_PORT..)
            .find(|port| !self.ports.contains(port))
            .expect("numbers do not end");
        self.ports.insert(free);
        free
    }
}
