//! Encrypted files name the service that decrypts them: credentials of the controller go to services of its cloud only.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sops::{AzureKey, Remote, RemoteKey};
use testkit::http::{Reply, Request, Server};

use crate::services::ask;

/// The vault of a file is where its author says. A token of the controller was sent there.
#[test]
fn a_vault_that_is_none_of_azure_gets_no_token() {
    let evil = Server::serve(|_: &Request| Reply::json(r#"{"value": "AAAA"}"#));
    let machine = Server::serve(|_: &Request| {
        Reply::json(r#"{"access_token": "machine-token", "expires_in": "3600"}"#)
    });
    let url = machine.url();
    let variables = [("AZURE_POD_IDENTITY_AUTHORITY_HOST", url.as_str())];
    let managed = [("sops.azure-kv", "clientId: client-1\n")];
    for vault_url in [evil.url(), "http://acme.vault.azure.net".to_owned()] {
        for entries in [&[][..], &managed[..]] {
            let key = AzureKey {
                vault_url: vault_url.clone(),
                name: "k".to_owned(),
                version: "1".to_owned(),
            };
            let key = RemoteKey {
                key: Remote::AzureKeyVault(key),
                ciphertext: URL_SAFE_NO_PAD.encode("sealed"),
            };
            let refused = ask(&variables, entries, "", &key).unwrap_err();
            assert!(
                refused.contains("credentials of a cloud identity are not sent to '"),
                "{refused}"
            );
        }
    }
    assert_eq!(evil.requests().len() + machine.requests().len(), 0);
}
