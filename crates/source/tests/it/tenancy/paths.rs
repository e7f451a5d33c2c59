//! Names that tenants choose are names in addresses, and lead to no other place.

use secrecy::SecretString;
use source::bucket::{Store, azure, s3};
use source::{http, kms};
use testkit::http::{Reply, Request, Server};

type Paths = Server<fn(&Request) -> Reply>;

/// A server that is asked for anything.
fn server() -> Paths {
    Server::serve(|_| Reply::status(404))
}

fn paths(server: &Paths) -> Vec<String> {
    let paths = server.requests().into_iter().map(|request| request.path);
    paths.collect()
}

#[tokio::test]
async fn the_name_of_a_vault_key_is_one_name() {
    let server = server();
    let client = http::Options::default().client().unwrap();
    let token = SecretString::from("t");
    let ask = async |engine_path: &str, key_name: &str| {
        let request = kms::vault::Request {
            address: &server.url(),
            engine_path,
            key_name,
            ciphertext: "vault:v1:x",
        };
        kms::vault::decrypt(&client, &token, &request).await.unwrap_err()
    };
    ask("team/transit", "a/../../sys/x?y#z").await;
    ask("transit", "a/b").await;
    for (engine, key) in [("transit", ".."), ("../sys", "a"), ("transit", ""), ("", "a")] {
        let error = ask(engine, key).await;
        assert!(matches!(error, kms::Error::Key(_)), "{error}");
    }
    assert_eq!(
        paths(&server),
        [
            "/v1/team/transit/decrypt/a%2F..%2F..%2Fsys%2Fx%3Fy%23z",
            "/v1/transit/decrypt/a%2Fb"
        ]
    );
}

#[tokio::test]
async fn the_name_of_an_azure_key_leads_nowhere_else() {
    let server = server();
    let client = http::Options::default().client().unwrap();
    let token = SecretString::from("t");
    for (name, version) in [("..", "1"), ("k", ".."), (".", ""), ("", "1")] {
        let request = kms::azure::Request {
            vault_url: &server.url(),
            name,
            version,
            ciphertext: "eA",
        };
        let error = kms::azure::decrypt(&client, &token, &request).await.unwrap_err();
        assert!(matches!(error, kms::Error::Key(_)), "{error}");
    }
    assert!(paths(&server).is_empty());
}

#[tokio::test]
async fn the_name_of_a_bucket_is_one_name() {
    let server = server();
    let host = server.host();
    let bucket = |bucket: &str| {
        s3::Bucket::new(s3::Options {
            endpoint: host.clone(),
            bucket: bucket.to_owned(),
            region: String::new(),
            insecure: true,
            credentials: s3::Credentials::Anonymous,
            http: http::Options::default(),
        })
        .unwrap()
    };
    assert!(!bucket("mine/../theirs").exists().await.unwrap());
    assert!(bucket("..").exists().await.is_err());
    let container = azure::Container::new(azure::Options {
        endpoint: server.url(),
        container: "mine/theirs".to_owned(),
        credentials: azure::Credentials::Anonymous,
        http: http::Options::default(),
    });
    let _ = container.unwrap().exists().await;
    assert_eq!(paths(&server), ["/mine%2F..%2Ftheirs", "/mine%2Ftheirs"]);
}

/// What is before the first `#` or `/` would be the host, and be sent what is meant for Amazon.
#[tokio::test]
async fn the_name_of_a_bucket_is_no_host() {
    let server = server();
    let proxy = testkit::http::Socks::to(server.address());
    let host = server.host();
    for name in [format!("{host}#"), format!("{host}/"), format!("{host}?")] {
        let bucket = s3::Bucket::new(s3::Options {
            endpoint: "s3.eu-west-1.amazonaws.com".to_owned(),
            bucket: name,
            region: String::new(),
            insecure: true,
            credentials: s3::Credentials::Anonymous,
            http: http::Options {
                proxy: super::through(&proxy),
                ..http::Options::default()
            },
        });
        let _ = bucket.unwrap().exists().await;
    }
    let hosts = proxy.hosts();
    assert!(
        !hosts.is_empty() && hosts.iter().all(|host| host == "s3.eu-west-1.amazonaws.com:80"),
        "{hosts:?}"
    );
}
