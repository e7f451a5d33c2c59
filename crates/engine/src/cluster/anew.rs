//! Whether an object that cannot be changed could be made anew.

use model::Value;

use super::Cluster;
use super::error::Error;
use super::objects::Write;
use super::resource::Resource;

/// What the object is called where it is only asked whether it could be made: short enough for every kind.
const ANOTHER_NAME: &str = "anew-";

impl Cluster {
    /// Whether the server would take an object if what is there were not: only then may that be deleted for it.
    ///
    /// A dry run that makes it under another name tells: an update is refused for fields that cannot change before quotas and policies
    /// are asked, and the right to create is another one. So nothing that is said of an update tells whether the object could be made.
    pub async fn could_make(
        &self,
        resource: &Resource,
        object: &Value,
        live: &Value,
        by: &Write,
    ) -> Result<(), Error> {
        let mut other = object.clone();
        other.remove_at(&["metadata", "name"]);
        other.set_at(&["metadata", "generateName"], ANOTHER_NAME);
        if resource.group.is_empty() && resource.kind == "Service" {
            leave_out_addresses(&mut other, live);
        }
        let options = Write {
            dry_run: true,
            ..by.clone()
        };
        self.create(resource, &other, &options).await.map(drop)
    }
}

/// Leaves out of a Service what the live one holds and nobody else can have until that is deleted. What another Service holds is
/// asked for, and refused.
fn leave_out_addresses(service: &mut Value, live: &Value) {
    let is_headless = live.str_at(&["spec", "clusterIP"]) == "None";
    for field in ["clusterIP", "clusterIPs", "healthCheckNodePort"] {
        let path = ["spec", field];
        if !is_headless && service.at(&path) == live.at(&path) {
            service.remove_at(&path);
        }
    }
    let ports = live.list_at(&["spec", "ports"]);
    let held: Vec<&Value> = ports.iter().filter_map(|port| port.get("nodePort")).collect();
    let wanted = service.at_mut(&["spec", "ports"]).and_then(Value::as_array_mut);
    for port in wanted.into_iter().flat_map(|ports| ports.iter_mut()) {
        if port.get("nodePort").is_some_and(|wanted| held.contains(&wanted)) {
            port.remove_at(&["nodePort"]);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn a_service_is_asked_about_without_the_addresses_that_its_predecessor_holds() {
        let service = |ip: &str, port: i64| {
            value!({ "spec": {
                "clusterIP": ip, "clusterIPs": [ip],
                "ports": [{ "port": 80, "nodePort": port }, { "port": 81 }],
            }})
        };
        let mut same = service("10.0.0.1", 30080);
        leave_out_addresses(&mut same, &service("10.0.0.1", 30080));
        assert_eq!(
            same,
            value!({ "spec": { "ports": [{ "port": 80 }, { "port": 81 }] } })
        );
        let mut others = service("10.0.0.2", 30081);
        leave_out_addresses(&mut others, &service("10.0.0.1", 30080));
        assert_eq!(others, service("10.0.0.2", 30081));
    }

    #[test]
    fn a_service_without_an_address_is_asked_about_as_one() {
        let headless = value!({ "spec": { "clusterIP": "None" } });
        let mut wanted = headless.clone();
        leave_out_addresses(&mut wanted, &headless);
        assert_eq!(wanted, headless);
    }
}
