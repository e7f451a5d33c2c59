//! Registries that are reached with TLS today and without it tomorrow, or the other way round, on one port.

use std::net::SocketAddr;

use source::oci::{Client, Credential, Error, Keychain, Repository, Selector, Session};
use testkit::http::{Credential as Shown, Reply, Request};
use testkit::oci::{Artifact, Server};
use testkit::tls::Authority;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::options;

/// One address behind which now this server is, now that. Whoever is connected is cut off when it changes.
struct Junction {
    address: SocketAddr,
    leads_to: watch::Sender<Option<SocketAddr>>,
}

impl Junction {
    async fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (leads_to, led) = watch::channel(None);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut led = led.clone();
                tokio::spawn(async move {
                    let Some(server) = *led.borrow_and_update() else {
                        return;
                    };
                    let mut server = TcpStream::connect(server).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = led.changed() => {}
                    }
                });
            }
        });
        Junction { address, leads_to }
    }

    fn lead_to(&self, server: SocketAddr) {
        self.leads_to.send_replace(Some(server));
    }

    fn lead_nowhere(&self) {
        self.leads_to.send_replace(None);
    }

    fn repository(&self) -> Repository {
        Repository::parse(&format!("oci://{}/team/app", self.address)).unwrap()
    }

    /// Somebody who trusts an authority and has a password for what is behind this address.
    fn client(&self, authority: &Authority) -> Client {
        let mut options = options();
        options.http.tls.authorities = Some(authority.pem().into_bytes());
        let keychain = Keychain::for_registry_of(&self.repository(), Credential::parse("ada:secret"));
        Client::new(&options, keychain, &Session::new()).unwrap()
    }

    async fn poll(&self, client: &Client) -> Result<(), Error> {
        client
            .resolve(&self.repository(), &Selector::default(), None)
            .await?;
        Ok(())
    }
}

fn registry(authority: Option<&Authority>) -> Server {
    let builder = Server::builder().basic("ada", "secret");
    let registry = match authority {
        Some(authority) => builder.tls(authority).start(),
        None => builder.start(),
    };
    registry.push("team/app", "latest", &Artifact::files(&[("app.yaml", "a: 1\n")]));
    registry
}

#[tokio::test]
async fn no_password_goes_out_in_the_clear_while_something_else_answers_for_a_registry_with_tls() {
    let authority = Authority::default();
    let registry = registry(Some(&authority));
    let junction = Junction::new().await;
    let client = junction.client(&authority);
    junction.lead_to(registry.address());
    junction.poll(&client).await.unwrap();
    // What load balancers say whose servers are gone, and a page that is there for everyone.
    for status in [503, 404, 400, 403, 302] {
        let elsewhere =
            testkit::http::Server::serve(move |_: &Request| Reply::status(status).with("location", "/login"));
        junction.lead_to(elsewhere.address());
        for _ in 0..3 {
            junction.poll(&client).await.unwrap_err();
        }
        let shown: Vec<_> = elsewhere
            .requests()
            .into_iter()
            .filter_map(|asked| asked.credential)
            .collect();
        assert_eq!(shown, [], "{status}");
        junction.lead_to(registry.address());
        recovers(&junction, &client).await;
    }
    junction.lead_nowhere();
    junction.poll(&client).await.unwrap_err();
    junction.lead_to(registry.address());
    recovers(&junction, &client).await;
}

#[tokio::test]
async fn a_registry_that_gets_tls_is_found_on_the_same_port_and_one_that_loses_it_too() {
    let authority = Authority::default();
    let (plain, with_tls) = (registry(None), registry(Some(&authority)));
    let junction = Junction::new().await;
    let client = junction.client(&authority);
    for now in [&plain, &with_tls, &plain, &with_tls] {
        now.forget_requests();
        junction.lead_to(now.address());
        recovers(&junction, &client).await;
        let last = now.requests().pop().unwrap();
        assert_eq!(last.credential, Some(Shown::basic("ada", "secret")));
    }
}

/// One poll may find out that things have changed; the next goes the new way.
async fn recovers(junction: &Junction, client: &Client) {
    if junction.poll(client).await.is_err() {
        junction.poll(client).await.unwrap();
    }
    junction.poll(client).await.unwrap();
}
