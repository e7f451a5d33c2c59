//! Proxies that are given, beside those of the environment.

use source::http::{Login, Options, Proxy};
use testkit::http::{Reply, Request, Server, Socks};

fn through(address: String, login: Option<(&str, &str)>) -> Options {
    let login = login.map(|(user, password)| Login {
        user: user.to_owned(),
        password: password.into(),
    });
    Options {
        proxy: Some(Proxy { address, login }),
        ..Options::default()
    }
}

/// Flux leaves names to the proxy, which may be the only one to know them.
#[tokio::test]
async fn names_are_left_to_a_socks_proxy() {
    let server = Server::serve(|_: &Request| Reply::text("ok"));
    let socks = Socks::to(server.address());
    let client = through(socks.url(), None).client().unwrap();
    let answer = client.get("http://git.invalid/").send().await.unwrap();
    assert_eq!(answer.text().await.unwrap(), "ok");
    assert_eq!(socks.hosts(), ["git.invalid:80"]);
}

#[tokio::test]
async fn a_socks_proxy_is_shown_the_login() {
    let server = Server::serve(|_: &Request| Reply::text("ok"));
    let socks = Socks::with_login(server.address(), "ada", "ge:heim");
    for (login, is_let_in) in [
        (Some(("ada", "ge:heim")), true),
        (Some(("ada", "other")), false),
        (None, false),
    ] {
        let client = through(socks.url(), login).client().unwrap();
        let answer = client.get("http://git.invalid/").send().await;
        assert_eq!(answer.is_ok(), is_let_in, "{login:?}");
    }
}
