//! Credentials, TLS and faults, as the real `git` meets them.

use testkit::git::{PackFault, Server};
use testkit::http::Fault;
use testkit::tls::Authority;

use super::program::git;

fn with_user(url: &str, user: &str) -> String {
    url.replace("://", &format!("://{user}@"))
}

#[test]
fn basic_credentials_are_needed_to_read_and_to_push() {
    let Some(git) = git() else { return };
    let server = Server::builder().basic("ada", "secret").start();
    server.repository("app").commit("main", "One", [("a", "1")]);
    let url = server.clone_url("app");
    let error = git.fails(&["ls-remote", &url]).error;
    assert!(error.contains("could not read Username"), "{error}");
    let error = git.fails(&["ls-remote", &with_user(&url, "ada:wrong")]).error;
    assert!(error.contains("Authentication failed"), "{error}");
    let url = with_user(&url, "ada:secret");
    git.run(&["clone", "--quiet", &url, "clone"]);
    git.run(&["-C", "clone", "push", "--quiet", "origin", "HEAD:copy"]);
    assert!(server.repository("app").resolve("copy").is_some());
}

#[test]
fn a_bearer_token_is_taken() {
    let Some(git) = git() else { return };
    let server = Server::builder().bearer("token").start();
    server.repository("app").commit("main", "One", [("a", "1")]);
    git.fails(&["ls-remote", &server.clone_url("app")]);
    let git = git.setting("http.extraHeader=Authorization: Bearer token");
    git.run(&["ls-remote", &server.clone_url("app")]);
}

#[test]
fn tls_with_a_client_certificate() {
    let Some(git) = git() else { return };
    let (authority, clients) = (Authority::default(), Authority::new("clients"));
    let server = Server::builder()
        .tls(&authority)
        .client_certificates(&clients)
        .start();
    server.repository("app").commit("main", "One", [("a", "1")]);
    let url = server.clone_url("app");
    let identity = clients.client("ada");
    let roots = git.write("ca.crt", &authority.pem());
    let certificate = git.write("tls.crt", &identity.certificate);
    let key = git.write("tls.key", &identity.key);
    git.fails(&["ls-remote", &url]);
    let git = git.setting(format!("http.sslCAInfo={roots}"));
    git.fails(&["ls-remote", &url]);
    let git = git
        .setting(format!("http.sslCert={certificate}"))
        .setting(format!("http.sslKey={key}"));
    git.run(&["clone", "--quiet", &url, "clone"]);
}

#[test]
fn a_redirect_is_followed() {
    let Some(git) = git() else { return };
    let (old, new) = (Server::start(), Server::start());
    new.repository("app").commit("main", "One", [("a", "1")]);
    old.fail(Fault::redirect(301, &new.url()).forever());
    git.run(&["clone", "--quiet", &old.clone_url("app"), "clone"]);
    assert_eq!(new.repository("app").stats().fetches, 1);
}

#[test]
fn what_breaks_is_noticed_by_the_client() {
    let Some(git) = git() else { return };
    let server = Server::start();
    let repository = server.repository("app");
    let text: String = (0..20_000_u32)
        .map(|n| format!("{:x}\n", n.wrapping_mul(2_654_435_761)))
        .collect();
    repository.commit("main", "One", [("a", text.as_str())]);
    let url = server.clone_url("app");
    let clone = |expected: &[&str]| {
        eprintln!("expecting {expected:?}");
        let error = git.fails(&["clone", &url, "clone"]).error;
        assert!(expected.iter().any(|text| error.contains(text)), "{error}");
    };
    server.fail(Fault::status(500).times(1));
    clone(&["error: 500"]);
    // The listing is shorter than this; the pack is cut.
    server.fail(Fault::truncate(20_000).on("/git-upload-pack").forever());
    clone(&["early EOF", "unexpected disconnect"]);
    server.heal();
    repository.break_next_pack(PackFault::Corrupted);
    clone(&["inflate", "index-pack failed"]);
    repository.break_next_pack(PackFault::Truncated);
    clone(&["early EOF", "index-pack failed"]);
    repository.break_next_pack(PackFault::Failed("out of memory".to_string()));
    clone(&["remote: out of memory", "remote error: out of memory"]);
    git.run(&["clone", "--quiet", &url, "clone"]);
}

#[test]
fn an_unknown_repository_is_not_found() {
    let Some(git) = git() else { return };
    let server = Server::start();
    let error = git.fails(&["ls-remote", &server.clone_url("none")]).error;
    assert!(error.contains("not found"), "{error}");
}
