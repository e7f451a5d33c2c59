//! Real connections.

use engine::cluster::{Apply, Cluster, Detail, Selection, Start, connect};
use futures::future::join_all;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

use super::config_map;

async fn config(test: &testkit::Cluster) -> Config {
    let file = Kubeconfig::read_from(test.kubeconfig().await).unwrap();
    Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
        .await
        .unwrap()
}

/// A connection takes a hundred streams, on a real server: more watches than that must not keep requests waiting.
#[tokio::test]
async fn requests_go_through_beside_hundreds_of_watches() {
    let test = testkit::Cluster::start().await;
    let space = test.namespace("lanes").await;
    let cluster = Cluster::new(connect(config(&test).await).unwrap());
    let maps = cluster.preferred("", "ConfigMap").await.unwrap();
    let selection = Selection {
        namespace: space.as_str().into(),
        detail: Detail::Metadata,
        ..Selection::default()
    };
    let watches = join_all((0..210).map(|_| cluster.watch(&maps, &selection, Start::Everything))).await;
    assert!(watches.iter().all(Result::is_ok));
    cluster
        .apply(&maps, &config_map(&space, "a", "one"), &Apply::by("tests"))
        .await
        .unwrap();
    assert!(cluster.get(&maps, &space, "a").await.unwrap().is_some());
    drop(watches);
    test.finish().await;
}

#[tokio::test]
async fn a_name_that_no_certificate_can_have_is_refused() {
    let mut config = Config::new("https://127.0.0.1:1".parse().unwrap());
    config.tls_server_name = Some("no name".into());
    let error = connect(config).err().unwrap();
    assert_eq!(error.to_string(), "\"no name\" is no server name");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_no_connection() {
    // The port is taken, so that nobody else gets it, but nobody listens on it.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    let config = Config::new(format!("http://{address}").parse().unwrap());
    let cluster = Cluster::new(connect(config).unwrap());
    let error = cluster.preferred("", "ConfigMap").await.unwrap_err();
    assert!(
        matches!(error, engine::cluster::Error::Transport { .. }),
        "{error:?}"
    );
    let expected = format!("failed to discover /api: no connection to http://{address}: Connection refused");
    assert!(error.to_string().starts_with(&expected), "{error}");
    let config = Config::new(format!("http://ada:secret@{address}").parse().unwrap());
    let error = Cluster::new(connect(config).unwrap())
        .preferred("", "ConfigMap")
        .await;
    let error = error.unwrap_err();
    assert!(error.to_string().starts_with(&expected), "{error}");
}
