//! The count of requests.

use apiserver::auth::{Attributes, Resource, User};
use apiserver::requests::Requests;

fn count(requests: &Requests, verb: &str, resource: Resource<'_>, agent: &str) {
    requests.count(&Attributes::resource(&User::default(), verb, resource), agent);
}

fn scale() -> Resource<'static> {
    Resource {
        group: "apps",
        resource: "deployments",
        subresource: "scale",
        name: "web",
        ..Resource::default()
    }
}

fn pods(name: &str) -> Resource<'_> {
    Resource {
        resource: "pods",
        namespace: "one",
        name,
        ..Resource::default()
    }
}

#[test]
fn requests_are_counted_by_client_resource_and_verb() {
    let requests = Requests::default();
    count(
        &requests,
        "get",
        pods("a"),
        "kubectl/v1.35.0 (linux/amd64) kubernetes/abc",
    );
    count(&requests, "get", pods("b"), "kubectl/v1.35.0 (darwin/arm64)");
    count(&requests, "patch", scale(), "sluice/0.1");
    requests.count(&Attributes::path(&User::default(), "get", "/version"), "");
    let counts = requests.snapshot();
    assert_eq!(counts.total(), 4);
    assert_eq!(counts.sum(|row| row.verb == "get"), 3);
    assert_eq!(
        counts.sum(|row| row.client == "kubectl/v1.35.0" && row.resource == "pods"),
        2
    );
    assert_eq!(counts.sum(|row| row.resource == "deployments.apps/scale"), 1);
    assert_eq!(
        counts.to_string(),
        "\
CLIENT           RESOURCE                VERB     COUNT
                 /version                get          1
kubectl/v1.35.0  pods                    get          2
sluice/0.1       deployments.apps/scale  patch        1
total                                                 4
"
    );
}

#[test]
fn what_came_in_between_is_the_difference() {
    let requests = Requests::default();
    count(&requests, "get", pods(""), "a");
    let before = requests.snapshot();
    assert_eq!(requests.snapshot().since(&before).total(), 0);
    count(&requests, "get", pods(""), "a");
    count(&requests, "list", pods(""), "b");
    let between = requests.snapshot().since(&before);
    let rows: Vec<_> = between
        .iter()
        .map(|(row, count)| (row.verb.as_str(), count))
        .collect();
    assert_eq!(rows, [("get", 1), ("list", 1)]);
}

#[test]
fn a_reset_starts_from_zero() {
    let requests = Requests::default();
    count(&requests, "get", pods(""), "a");
    assert_eq!(requests.reset().total(), 1);
    assert_eq!(requests.snapshot().total(), 0);
}

#[test]
fn a_client_that_makes_up_names_does_not_fill_the_memory() {
    let requests = Requests::default();
    for number in 0..30_000 {
        count(&requests, "get", pods(""), &format!("agent-{number}"));
    }
    let counts = requests.snapshot();
    assert_eq!(counts.total(), 30_000);
    assert_eq!(counts.iter().count(), 10_001);
    assert_eq!(counts.sum(|row| row.client == "(other)"), 20_000);
}
