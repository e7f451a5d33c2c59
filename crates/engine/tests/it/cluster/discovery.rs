//! Which kinds are served.

use engine::cluster::{Error, Verb};

use super::{definition, of};

#[tokio::test]
async fn a_kind_is_found_with_its_path_and_scope_and_asked_for_once() {
    let test = testkit::Cluster::start().await;
    let cluster = of(&test);
    let deployments = cluster.resource("apps", "v1", "Deployment").await.unwrap();
    assert_eq!(
        (
            deployments.plural.as_str(),
            deployments.namespaced,
            deployments.watchable
        ),
        ("deployments", true, true)
    );
    let asked = cluster.counts();
    let namespaces = cluster.preferred("", "Namespace").await.unwrap();
    assert_eq!(
        (namespaces.version.as_str(), namespaces.namespaced),
        ("v1", false)
    );
    let autoscalers = cluster.preferred("autoscaling", "HorizontalPodAutoscaler").await;
    assert_eq!(autoscalers.unwrap().version, "v2");
    assert_eq!(cluster.counts().since(&asked).total(), 0);
}

#[tokio::test]
async fn a_kind_that_comes_is_found_when_it_is_told() {
    let test = testkit::Cluster::start().await;
    let cluster = of(&test);
    let name = format!("{}things", test.prefix());
    let group = format!("{name}.engine.sluice.dev");
    let missing = cluster.resource(&group, "v1", "Thing").await.unwrap_err();
    assert_eq!(
        missing.to_string(),
        format!("no matches for kind \"Thing\" in version \"{group}/v1\"")
    );
    test.establish(&definition(&name, "Thing", &["v1", "v1beta1"]))
        .await;
    // A real server may publish it a moment later.
    let found = testkit::settled(
        std::time::Duration::from_secs(30),
        testkit::settled::Every(std::time::Duration::from_millis(50)),
        async || {
            cluster.discovery_changed();
            cluster.preferred(&group, "Thing").await
        },
    );
    assert_eq!(found.await.unwrap().version, "v1");
    assert!(cluster.resource(&group, "v1beta1", "Thing").await.is_ok());
    test.finish().await;
}

#[tokio::test]
async fn those_who_need_discovery_at_the_same_time_share_it() {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let cluster = of(&test);
    let all = (0..50).map(|_| cluster.preferred("apps", "StatefulSet"));
    for found in futures::future::join_all(all).await {
        assert_eq!(found.unwrap().plural, "statefulsets");
    }
    // One for the core group, one for all others.
    assert_eq!(cluster.counts().of(Verb::Discover), 2);
}

/// Of those who need it each would wait in vain once more.
#[tokio::test(start_paused = true)]
async fn those_who_wait_for_a_server_that_is_down_share_that() {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let cluster = of(&test);
    let faults = test.server().unwrap().faults();
    faults.add(apiserver::fault::Rule::new(apiserver::fault::Fault::Disconnect));
    let all = (0..50).map(|_| cluster.preferred("apps", "StatefulSet"));
    for found in futures::future::join_all(all).await {
        assert!(matches!(found, Err(Error::Transport { .. })));
    }
    assert!(cluster.preferred("apps", "StatefulSet").await.is_err());
    assert_eq!(cluster.counts().of(Verb::Discover), 1);
    faults.clear();
    assert!(cluster.preferred("apps", "StatefulSet").await.is_err());
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    assert!(cluster.preferred("apps", "StatefulSet").await.is_ok());
}

#[tokio::test]
async fn what_is_known_stays_known_while_the_server_is_down() {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let cluster = of(&test);
    cluster.preferred("apps", "Deployment").await.unwrap();
    let faults = test.server().unwrap().faults();
    faults.add(apiserver::fault::Rule::new(apiserver::fault::Fault::Disconnect));
    cluster.discovery_changed();
    assert!(cluster.preferred("apps", "Deployment").await.is_ok());
    assert!(matches!(
        cluster.preferred("apps", "Unheard").await,
        Err(Error::Transport { .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_was_defined_just_now_is_waited_for_unless_its_definition_is_deleted() {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let cluster = of(&test);
    let missing = async || {
        let start = tokio::time::Instant::now();
        let found = cluster.preferred("example.com", "Thing").await;
        assert!(matches!(found, Err(Error::NoSuchKind { .. })));
        start.elapsed()
    };
    cluster.expect("things.example.com", "example.com", Some("Thing"));
    assert!(missing().await.as_secs() >= 10);
    cluster.expect("things.example.com", "example.com", Some("Thing"));
    cluster.expect("others.example.com", "example.com", Some("Other"));
    cluster.expect_no_more("things.example.com");
    assert!(missing().await.as_secs() < 1);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_missing_makes_the_server_be_asked_again_but_not_each_time() {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let cluster = of(&test);
    let missing = async || {
        matches!(
            cluster.preferred("", "Thing").await,
            Err(Error::NoSuchKind { .. })
        )
    };
    assert!(missing().await);
    let asked = cluster.counts();
    assert!(missing().await);
    assert_eq!(cluster.counts().since(&asked).of(Verb::Discover), 0);
    tokio::time::advance(std::time::Duration::from_secs(5)).await;
    assert!(missing().await);
    assert_eq!(cluster.counts().since(&asked).of(Verb::Discover), 2);
}
