//! Mallory chooses the URLs that controllers fetch. None of them leads to artifacts of others, or to the metadata server.

use std::path::Path;

use reqwest::StatusCode;
use source::archive::Tree as _;
use source::helm;
use source::http::Options;
use source::oci;
use source::store::serve;
use testkit::http::{Reply, Request, Server};
use tokio::net::TcpListener;

use crate::git::chain;
use crate::store::{Fixture, place, put};

/// The URL at which an artifact of Ada is served.
async fn artifact(fixture: &Fixture) -> String {
    let artifact = put(&fixture.open(), &place("ada"), "index.yaml", "entries: {}\n");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let root: &Path = fixture.root();
    tokio::spawn(serve(root.to_owned(), listener, std::future::pending()));
    format!("http://{address}/{}", artifact.path)
}

/// A server that leads everywhere else.
fn leading_to(url: String) -> Server<impl Fn(&Request) -> Reply> {
    Server::serve(move |_: &Request| Reply::status(302).with("location", &url))
}

#[tokio::test]
async fn no_url_of_a_tenant_leads_to_artifacts() {
    let fixture = Fixture::new();
    let url = artifact(&fixture).await;
    let reader = reqwest::Client::new();
    let answer = reader.get(&url).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "other controllers read it");

    let port = url::Url::parse(&url).unwrap().port().unwrap();
    let path = url::Url::parse(&url).unwrap().path().to_owned();
    let redirects = leading_to(url.clone());
    let options = Options::default();
    for client in [options.client().unwrap(), options.raw_client().unwrap()] {
        for url in [
            url.clone(),
            format!("http://localhost:{port}{path}"),
            format!("http://[::ffff:127.0.0.1]:{port}{path}"),
            format!("{}/a", redirects.url()),
        ] {
            let answer = client.get(&url).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{url}");
        }
    }

    let folder = tempfile::tempdir().unwrap();
    let own = url.strip_suffix("/index.yaml").unwrap();
    for url in [own.to_owned(), redirects.url()] {
        let repository = helm::Repository::new(helm::repository::Options::new(&url)).unwrap();
        let error = repository.fetch_index(folder.path()).await.unwrap_err();
        assert!(error.to_string().contains("403"), "{url}: {error}");
    }
}

#[tokio::test]
async fn no_url_of_a_tenant_leads_to_metadata_servers() {
    let metadata = "http://169.254.169.254/latest/meta-data/iam/security-credentials/role";
    let redirects = leading_to(metadata.to_owned());
    let client = Options::default().client().unwrap();
    for url in [
        metadata,
        "https://169.254.169.254/",
        "http://[fd00:ec2::254]/",
        "http://[fe80::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://100.100.100.200/",
        &redirects.url(),
    ] {
        let error = client.get(url).send().await.unwrap_err();
        let error = chain(&error);
        assert!(error.contains("link-local addresses"), "{url}: {error}");
    }

    let folder = tempfile::tempdir().unwrap();
    for url in ["http://169.254.169.254/".to_owned(), redirects.url()] {
        let repository = helm::Repository::new(helm::repository::Options::new(&url)).unwrap();
        let error = repository.fetch_index(folder.path()).await.unwrap_err();
        assert!(
            chain(&error).contains("the address is refused"),
            "{}",
            chain(&error)
        );

        let cache = source::git::Cache::temporary(folder.path()).unwrap();
        let settings = source::git::Settings::new(url.parse().unwrap());
        let remote = source::git::Remote::new(settings, cache);
        let fetched = remote.fetch(&source::git::Request::default()).await;
        let error = match fetched {
            Ok(source::git::Outcome::Fetched(checkout)) => panic!("{:?}", checkout.entries()),
            Ok(_) => panic!("unchanged"),
            Err(error) => chain(&error),
        };
        assert!(error.contains("link-local addresses"), "{error}");
    }

    let repository = oci::Repository::parse("oci://169.254.169.254/team/app").unwrap();
    let error = crate::oci::anonymous().tags(&repository).await.unwrap_err();
    assert!(
        chain(&error).contains("link-local addresses"),
        "{}",
        chain(&error)
    );
}

#[tokio::test]
async fn no_proxy_of_a_tenant_is_a_metadata_server() {
    for address in ["http://169.254.169.254:80", "socks5://169.254.169.254:80"] {
        let options = Options {
            proxy: Some(source::http::Proxy {
                address: address.to_owned(),
                login: None,
            }),
            ..Options::default()
        };
        let error = chain(&options.client().unwrap_err());
        assert!(error.contains("link-local addresses"), "{address}: {error}");
    }
}
