mod access;
mod faults;
mod pull;
mod push;
mod resolve;
mod scheme;

use source::oci::{Client, Credential, Keychain, Options, Repository, Session};
use testkit::oci::Server;

/// Options without pauses between tries.
fn options() -> Options {
    Options {
        pauses: vec![Default::default(); 2],
        ..Options::default()
    }
}

pub(crate) fn repository(registry: &Server, path: &str) -> Repository {
    Repository::parse(&format!("oci://{}/{path}", registry.host())).unwrap()
}

/// A client without credentials.
pub(crate) fn anonymous() -> Client {
    Client::new(&options(), Keychain::anonymous(), &Session::new()).unwrap()
}

/// A client with credentials for one registry.
fn logged_in(registry: &Server, credential: &str, session: &Session) -> Client {
    let keychain = Keychain::for_registry_of(&repository(registry, "any"), Credential::parse(credential));
    Client::new(&options(), keychain, session).unwrap()
}
