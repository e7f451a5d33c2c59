//! Faults on demand.

use std::time::Duration;

use apiserver::auth::{Attributes, Resource, User};
use apiserver::fault::{Fault, Faults, Rule, WatchFault};
use model::value;

const AGENT: &str = "kubectl/v1.35.0 (linux/amd64)";

fn web() -> Resource<'static> {
    Resource {
        group: "apps",
        resource: "deployments",
        namespace: "one",
        name: "web",
        ..Resource::default()
    }
}

fn check(faults: &Faults, verb: &str, resource: Resource<'_>) -> Option<Fault> {
    faults.check(&Attributes::resource(&User::default(), verb, resource), AGENT)
}

fn with(rule: Rule) -> Faults {
    let faults = Faults::default();
    faults.add(rule);
    faults
}

#[test]
fn nothing_goes_wrong_unless_asked_for() {
    let faults = Faults::default();
    assert_eq!(check(&faults, "get", web()), None);
    let id = faults.add(Rule::new(Fault::Internal));
    assert_eq!(check(&faults, "get", web()), Some(Fault::Internal));
    faults.remove(id);
    assert_eq!(check(&faults, "get", web()), None);
    faults.add(Rule::new(Fault::Internal));
    faults.clear();
    assert_eq!(check(&faults, "get", web()), None);
}

#[test]
fn a_rule_strikes_only_what_it_names() {
    let rule = || Rule::new(Fault::Disconnect);
    let strikes = |rule: Rule| check(&with(rule), "update", web()).is_some();
    assert!(strikes(
        rule()
            .verb("update")
            .resource("apps", "deployments")
            .namespace("one")
            .name("web")
    ));
    assert!(strikes(rule().client("kubectl").subresource("")));
    for other in [
        rule().verb("patch"),
        rule().resource("", "deployments"),
        rule().resource("apps", "replicasets"),
        rule().subresource("status"),
        rule().namespace(""),
        rule().name("db"),
        rule().client("helm"),
    ] {
        assert!(!strikes(other.clone()), "{other:?}");
    }
    let faults = with(rule().resource("apps", "deployments"));
    assert_eq!(
        faults.check(&Attributes::path(&User::default(), "get", "/version"), AGENT),
        None
    );
}

#[test]
fn a_rule_strikes_as_often_as_it_says() {
    let struck = |rule: Rule| -> Vec<usize> {
        let faults = with(rule);
        (1..=5)
            .filter(|_| check(&faults, "get", web()).is_some())
            .collect()
    };
    assert_eq!(struck(Rule::new(Fault::Internal)), [1, 2, 3, 4, 5]);
    assert_eq!(struck(Rule::new(Fault::Internal).once()), [1]);
    assert_eq!(struck(Rule::new(Fault::Internal).times(2)), [1, 2]);
    assert_eq!(struck(Rule::new(Fault::Internal).nth(3)), [3]);
    assert_eq!(struck(Rule::new(Fault::Internal).nth(3).verb("list")), [0; 0]);
}

#[test]
fn chance_is_the_same_for_the_same_seed() {
    let run = |seed: u64| -> Vec<bool> {
        let faults = with(Rule::new(Fault::Internal).with_probability(0.25));
        faults.seed(seed);
        (0..4000)
            .map(|_| check(&faults, "get", web()).is_some())
            .collect()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let struck = run(7).into_iter().filter(|struck| *struck).count();
    assert!((800..1200).contains(&struck), "{struck} of 4000");
    let sure = |probability| {
        check(
            &with(Rule::new(Fault::Internal).with_probability(probability)),
            "get",
            web(),
        )
    };
    assert_eq!((sure(0.0), sure(1.0)), (None, Some(Fault::Internal)));
}

#[test]
fn the_first_rule_that_fires_decides() {
    let faults = Faults::default();
    let once = faults.add(Rule::new(Fault::Conflict).once());
    let late = faults.add(Rule::new(Fault::Delay(Duration::from_millis(5))));
    assert_eq!(check(&faults, "get", web()), Some(Fault::Conflict));
    assert_eq!(
        check(&faults, "get", web()),
        Some(Fault::Delay(Duration::from_millis(5)))
    );
    assert_eq!((faults.fired(once), faults.fired(late)), (1, 1));
}

#[test]
fn faults_of_watches_strike_watches_only() {
    let expire = WatchFault::Expire { after: 2 };
    let faults = with(Rule::new(Fault::Watch(expire)).once());
    assert_eq!(check(&faults, "list", web()), None);
    assert_eq!(
        check(&faults, "watch", web()).and_then(Fault::for_watch),
        Some(expire)
    );
    assert_eq!(check(&faults, "watch", web()), None);
    assert_eq!(Fault::Disconnect.for_watch(), None);
}

#[test]
fn answers_look_like_those_of_a_server_in_trouble() {
    let user = User::default();
    let request = Attributes::resource(&user, "update", web());
    let status = |fault: Fault| fault.error(&request).map(|error| error.to_status());
    assert_eq!(
        status(Fault::Conflict),
        Some(value!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again",
            "reason": "Conflict", "details": { "name": "web", "group": "apps", "kind": "deployments" }, "code": 409,
        }))
    );
    let busy = Fault::TooManyRequests(3).error(&request).unwrap();
    assert_eq!(
        (busy.code, busy.reason, busy.details.retry_after),
        (429, "TooManyRequests", 3)
    );
    assert_eq!(Fault::Unavailable.error(&request).unwrap().code, 503);
    assert_eq!(Fault::Internal.error(&request).unwrap().code, 500);
    let drop = Fault::Watch(WatchFault::Drop { after: 1 });
    for silent in [Fault::Disconnect, Fault::Delay(Duration::ZERO), drop] {
        assert_eq!(status(silent), None);
    }
}
