//! Proxies on the way to an API server, and certificates as people have them for client-go.

use std::process::Stdio;

use engine::cluster::{connect, connect_patiently};
use futures::future::join_all;
use kube::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use testkit::http::{Reply, Request, Server, Socks, Tunnel};
use testkit::tls::{Authority, Identity};

/// A host that nobody can resolve: only proxies lead there.
const HOST: &str = "cluster.invalid";
/// What the process that is started for a test is told: the certificate of the server.
const TOLD: &str = "SLUICE_TEST_PROXY";

type Api = Server<fn(&Request) -> Reply>;

fn answer(_: &Request) -> Reply {
    let version = r#""major":"1","minor":"36","gitVersion":"v1.36.0","gitCommit":"","gitTreeState":"","buildDate":"","goVersion":"","compiler":"","platform":"""#;
    Reply::json(format!("{{{version}}}"))
}

/// An API server whose certificate is one of an authority too, as `openssl req -x509` makes them.
fn server(identity: &Identity) -> Api {
    let answer: fn(&Request) -> Reply = answer;
    testkit::http::Builder::new(answer)
        .identity(identity.clone())
        .start()
}

fn own() -> Identity {
    Identity::self_signed(&[HOST, "127.0.0.1"], |_| ())
}

fn config(url: &str, certificate: &str) -> Config {
    let mut config = Config::new(url.parse().unwrap());
    let der = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    config.root_cert = Some(vec![der.to_vec()]);
    config
}

fn named(certificate: &str, proxy: Option<String>) -> Config {
    let mut config = config(&format!("https://{HOST}:6443"), certificate);
    config.proxy_url = proxy.map(|proxy| proxy.parse().unwrap());
    config
}

async fn asked(client: Client) -> Result<String, String> {
    let version = client.apiserver_version().await;
    let version = version.map_err(|error| {
        let mut texts = vec![error.to_string()];
        let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&error);
        while let Some(error) = cause {
            texts.push(error.to_string());
            cause = error.source();
        }
        texts.join(": ")
    })?;
    Ok(version.git_version)
}

#[tokio::test]
async fn a_server_that_is_its_own_authority_is_trusted_and_another_is_not() {
    let identity = own();
    let server = server(&identity);
    let url = format!("https://{}", server.address());
    for connect in [connect, connect_patiently] {
        let client = connect(config(&url, &identity.certificate)).unwrap();
        assert_eq!(asked(client).await.unwrap(), "v1.36.0");
    }
    for other in [own().certificate, Authority::default().pem()] {
        let error = asked(connect(config(&url, &other)).unwrap()).await.unwrap_err();
        assert!(error.contains("UnknownIssuer"), "{error}");
    }
    let mut anyone = config(&url, &own().certificate);
    anyone.accept_invalid_certs = true;
    assert_eq!(asked(connect(anyone).unwrap()).await.unwrap(), "v1.36.0");
}

#[tokio::test]
async fn a_proxy_of_the_kubeconfig_leads_to_the_server_with_one_connection() {
    let identity = own();
    let server = server(&identity);
    let tunnel = Tunnel::to(server.address());
    let socks = Socks::with_login(server.address(), "ada", "ge:heim");
    let login = socks.url().replace("socks5://", "socks5://ada:ge%3Aheim@");
    for (proxy, hosts) in [
        (tunnel.url(), &(|| tunnel.hosts()) as &dyn Fn() -> Vec<String>),
        (login, &|| socks.hosts()),
    ] {
        let client = connect(named(&identity.certificate, Some(proxy))).unwrap();
        asked(client.clone()).await.unwrap();
        let answers = join_all((0..20).map(|_| asked(client.clone()))).await;
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        // Names are left to the proxy, and HTTP/2 needs no second connection.
        assert_eq!(hosts(), [format!("{HOST}:6443")]);
    }
}

#[tokio::test]
async fn a_proxy_that_fails_is_named_without_its_login() {
    let refusing = Server::serve(|_: &Request| Reply::status(407));
    let identity = own();
    for (proxy, shown) in [
        (
            "http://ada:geheim@127.0.0.1:1".to_owned(),
            "127.0.0.1:1".to_owned(),
        ),
        (
            "socks5://ada:geheim@127.0.0.1:1".to_owned(),
            "127.0.0.1:1".to_owned(),
        ),
        (refusing.url(), refusing.host()),
    ] {
        let client = connect(named(&identity.certificate, Some(proxy))).unwrap();
        let error = asked(client).await.unwrap_err();
        assert!(
            error.contains(&format!("the proxy {shown} does not lead")),
            "{error}"
        );
        assert!(!error.contains("geheim"), "{error}");
    }
    let error = connect(named(&identity.certificate, Some("ftp://host".into())))
        .err()
        .unwrap();
    assert!(error.to_string().contains("must begin with http://"), "{error}");
}

/// The environment is the whole process's, so that one of its own is started.
#[tokio::test]
async fn the_proxy_of_the_environment_leads_to_the_server() {
    let identity = own();
    let server = server(&identity);
    let tunnel = Tunnel::to(server.address());
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "cluster::proxy::where_the_environment_has_a_proxy"]);
    let told = format!("{}\n{}", server.address(), identity.certificate);
    command
        .env(TOLD, told)
        .env("NO_PROXY", "10.0.0.0/8,.near.invalid");
    command.env("HTTPS_PROXY", tunnel.url());
    let output = command.stdin(Stdio::null()).output().await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(tunnel.hosts(), [format!("{HOST}:6443")]);
}

/// Run by the test above; on its own it has nothing to do.
#[tokio::test]
async fn where_the_environment_has_a_proxy() {
    let Ok(told) = std::env::var(TOLD) else { return };
    let (address, certificate) = told.split_once('\n').unwrap();
    assert_eq!(
        asked(connect(named(certificate, None)).unwrap()).await.unwrap(),
        "v1.36.0"
    );
    // Servers on this machine are reached directly.
    let here = config(&format!("https://{address}"), certificate);
    assert_eq!(asked(connect(here).unwrap()).await.unwrap(), "v1.36.0");
    let near = config("https://api.near.invalid", certificate);
    let error = asked(connect(near).unwrap()).await.unwrap_err();
    assert!(!error.contains("proxy"), "{error}");
}
