//! The Helm repository.

use std::io::Read;

use testkit::digest::sha256;
use testkit::helm::{Chart, Repository, Server, Urls};
use testkit::http::{Client, Credential, Method, Reply, Request, Service};

fn podinfo(version: &str) -> Chart {
    Chart::new("podinfo", version)
        .metadata("appVersion", version)
        .metadata("description", "Quotes: \"x\", 'y' # and a hash")
        .values("replicas: 1\n")
        .template("deployment.yaml", "kind: Deployment\n")
        .file("crds/thing.yaml", "kind: CustomResourceDefinition\n")
}

fn unpack(archive: &[u8]) -> Vec<(String, String)> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    let read = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut content = String::new();
        entry.read_to_string(&mut content).unwrap();
        (entry.path().unwrap().to_str().unwrap().to_string(), content)
    });
    read.collect()
}

#[tokio::test]
async fn the_index_names_every_chart_with_its_digest() {
    let server = Server::start();
    server.add(&podinfo("6.1.0"));
    server.add(&podinfo("6.2.0"));
    server.add(&Chart::new("other", "1.0.0"));
    let response = Client::new()
        .get(&format!("{}/index.yaml", server.url()))
        .await
        .unwrap();
    let index = yaml::parse_strict(&response.body).unwrap();
    assert_eq!(index.str_at(&["apiVersion"]), "v1");
    let versions = index.list_at(&["entries", "podinfo"]);
    assert_eq!(
        versions
            .iter()
            .map(|entry| entry.str_at(&["version"]))
            .collect::<Vec<_>>(),
        ["6.1.0", "6.2.0"]
    );
    assert_eq!(
        versions[0].str_at(&["description"]),
        "Quotes: \"x\", 'y' # and a hash"
    );
    let file = versions[0].list_at(&["urls"])[0].as_str().unwrap().to_string();
    let archive = Client::new()
        .get(&format!("{}/{file}", server.url()))
        .await
        .unwrap();
    assert_eq!(
        sha256(&archive.body),
        format!("sha256:{}", versions[0].str_at(&["digest"]))
    );
    assert_eq!(server.count(Method::GET, "/index.yaml"), 1);
    assert!(server.remove("podinfo", "6.1.0"));
    assert!(!server.remove("podinfo", "6.1.0"));
}

#[test]
fn an_archive_is_a_chart_and_the_same_each_time() {
    let chart = podinfo("6.1.0").subchart(&Chart::new("redis", "1.0.0").values("x: 1\n"));
    assert_eq!(chart.archive(), chart.archive());
    let files = unpack(&chart.archive());
    let paths: Vec<_> = files.iter().map(|(path, _)| path.as_str()).collect();
    let expected = [
        "podinfo/Chart.yaml",
        "podinfo/charts/redis/Chart.yaml",
        "podinfo/charts/redis/values.yaml",
        "podinfo/crds/thing.yaml",
        "podinfo/templates/deployment.yaml",
        "podinfo/values.yaml",
    ];
    assert_eq!(paths, expected);
    let metadata = yaml::parse_strict(files[0].1.as_bytes()).unwrap();
    assert_eq!(
        (metadata.str_at(&["name"]), metadata.str_at(&["apiVersion"])),
        ("podinfo", "v2")
    );
    assert_eq!(metadata.list_at(&["dependencies"])[0].str_at(&["name"]), "redis");
}

#[tokio::test]
async fn addresses_can_be_whole_and_an_empty_index_is_one() {
    let server = Server::start();
    let url = format!("{}/index.yaml", server.url());
    let empty = yaml::parse_strict(&Client::new().get(&url).await.unwrap().body).unwrap();
    assert!(empty.at(&["entries"]).unwrap().as_object().is_some());
    server.set_urls(Urls::Absolute);
    server.add(&podinfo("6.1.0"));
    let text = Client::new().get(&url).await.unwrap().text();
    assert!(
        text.contains(&format!("urls: [\"{}/podinfo-6.1.0.tgz\"]", server.url())),
        "{text}"
    );
    server.set_index("not: [an index");
    assert_eq!(Client::new().get(&url).await.unwrap().text(), "not: [an index");
}

#[tokio::test]
async fn what_the_client_has_is_not_sent_again() {
    let server = Server::start();
    server.add(&podinfo("6.1.0"));
    for generated in [false, true] {
        if generated {
            server.generate(3, 2);
        }
        let url = format!("{}/index.yaml", server.url());
        let first = Client::new().get(&url).await.unwrap();
        let again = Client::new().header("if-none-match", first.header("etag"));
        let same = again.get(&url).await.unwrap();
        assert_eq!((same.status.as_u16(), same.body.len()), (304, 0));
        server.add(&podinfo(if generated { "6.3.0" } else { "6.2.0" }));
        assert_eq!(again.get(&url).await.unwrap().status.as_u16(), 200);
    }
}

#[tokio::test]
async fn provenance_is_served_beside_the_chart() {
    let server = Server::start();
    server.add_signed(&podinfo("6.1.0"), |archive| {
        format!("files:\n  podinfo-6.1.0.tgz: {}\n", sha256(archive))
    });
    server.add(&podinfo("6.2.0"));
    let get = async |file: &str| {
        Client::new()
            .get(&format!("{}/{file}", server.url()))
            .await
            .unwrap()
    };
    let archive = get("podinfo-6.1.0.tgz").await.body;
    assert!(
        get("podinfo-6.1.0.tgz.prov")
            .await
            .text()
            .contains(&sha256(&archive))
    );
    assert_eq!(get("podinfo-6.2.0.tgz.prov").await.status.as_u16(), 404);
    assert_eq!(get("podinfo-9.9.9.tgz").await.status.as_u16(), 404);
}

#[tokio::test]
async fn credentials_are_asked_for() {
    let server = Server::builder().basic("ada", "secret").start();
    let url = format!("{}/index.yaml", server.url());
    assert_eq!(Client::new().get(&url).await.unwrap().status.as_u16(), 401);
    let client = Client::new().credential(&Credential::basic("ada", "secret"));
    assert_eq!(client.get(&url).await.unwrap().status.as_u16(), 200);
}

#[tokio::test]
async fn a_generated_index_is_an_index_whose_charts_are_there() {
    let server = Server::start();
    server.add(&podinfo("6.1.0"));
    server.generate(20, 10);
    let response = Client::new()
        .get(&format!("{}/index.yaml", server.url()))
        .await
        .unwrap();
    let index = yaml::parse_strict(&response.body).unwrap();
    assert_eq!(index.at(&["entries"]).unwrap().as_object().unwrap().len(), 21);
    let entry = &index.list_at(&["entries", "generated-19"])[9];
    assert_eq!(entry.str_at(&["version"]), "0.0.9");
    let url = format!(
        "{}/{}",
        server.url(),
        entry.list_at(&["urls"])[0].as_str().unwrap()
    );
    let archive = Client::new().get(&url).await.unwrap();
    assert!(unpack(&archive.body)[0].1.contains("generated-19"));
    let beyond = format!("{}/generated-20-0.0.0.tgz", server.url());
    assert_eq!(Client::new().get(&beyond).await.unwrap().status.as_u16(), 404);
}

#[test]
fn a_huge_index_is_made_piece_by_piece() {
    let repository = Repository::default();
    repository.generate(200, 400);
    let request = Request {
        method: Method::GET,
        uri: "/index.yaml".parse().unwrap(),
        headers: Default::default(),
        body: Default::default(),
        scheme: "http",
    };
    let Reply {
        content: testkit::http::Content::Pieces(pieces),
        ..
    } = repository.reply(&request)
    else {
        panic!("the index is not sent in pieces")
    };
    let (mut total, mut largest) = (0, 0);
    for piece in pieces {
        total += piece.len();
        largest = largest.max(piece.len());
    }
    assert!(total > 18_000_000, "{total}");
    assert!(largest < 200_000, "{largest}");
}
