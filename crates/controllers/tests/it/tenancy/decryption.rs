//! Encrypted files name the services that decrypt them: whose identity these are shown.

use std::sync::Arc;

use controllers::kustomizations::Settings;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::Api;
use parking_lot::Mutex;
use serde_json::{Value, json};
use source::identity::{Environment, Identities};
use testkit::http::{Reply, Request, Server};

use crate::kustomizations::bed::Setting;
use crate::sources::bed::{condition, nobody_settings};

/// A Secret that these recipients of SOPS can decrypt.
fn encrypted(recipients: &Value) -> String {
    let sealed = "ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]";
    let mut sops = json!({
        "lastmodified": "2026-01-02T03:04:05Z", "mac": sealed, "encrypted_regex": "^stringData$", "version": "3.9.0",
    });
    sops.as_object_mut()
        .unwrap()
        .extend(recipients.as_object().unwrap().clone());
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "whole"}, "stringData": {"a": sealed}, "sops": sops,
    });
    secret.to_string()
}

async fn failure(setting: &Setting, name: &str) -> String {
    let object = setting.bed.ready(name, "False", "BuildFailed").await;
    condition(&object, "Ready").unwrap().message
}

/// `--default-decryption-service-account`: it decrypts where an object names no account, and it is one of the object's namespace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_default_account_of_decryption_is_that_of_the_objects_namespace() {
    let logins: Arc<Mutex<Vec<Value>>> = Arc::default();
    let noted = Arc::clone(&logins);
    let vault = Server::serve(move |request: &Request| {
        if request.path() == "/v1/auth/kubernetes/login" {
            noted.lock().push(serde_json::from_slice(&request.body).unwrap());
        }
        Reply::status(403)
    });
    let servers = format!("vaults-{}", std::process::id());
    let settings = Settings {
        default_decryption_service_account: Some("usual".to_owned()),
        object_level_workload_identity: true,
        sops_vault_config_map: Some(("default".to_owned(), servers.clone())),
        ..Settings::default()
    };
    let recipient = json!({
        "vault_address": vault.url(), "engine_path": "transit", "key_name": "k", "created_at": "2026-01-02T03:04:05Z",
        "enc": "vault:v1:eA==",
    });
    let file = encrypted(&json!({"hc_vault": [recipient]}));
    let setting = Setting::with_settings(&[("secret.yaml", &file)], settings).await;
    let bed = &setting.bed;
    let maps: Api<ConfigMap> = Api::namespaced(bed.cluster.client(), "default");
    let list = format!(
        "instances:\n- address: {}\n  loginPath: auth/kubernetes/login\n",
        vault.url()
    );
    let map = json!({"metadata": {"name": servers}, "data": {"config.yaml": list}});
    let map = serde_json::from_value(map).unwrap();
    maps.create(&Default::default(), &map).await.unwrap();
    setting
        .create("early", json!({"decryption": {"provider": "sops"}}))
        .await;
    let message = failure(&setting, "early").await;
    assert!(message.contains(&format!("{}/usual", bed.namespace)), "{message}");
    assert_eq!(logins.lock().len(), 0);
    let accounts: Api<ServiceAccount> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    for name in ["usual", "named"] {
        let account = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        accounts.create(&Default::default(), &account).await.unwrap();
    }
    for (name, decryption, account) in [
        ("default", json!({"provider": "sops"}), "usual"),
        (
            "empty",
            json!({"provider": "sops", "serviceAccountName": ""}),
            "usual",
        ),
        (
            "own",
            json!({"provider": "sops", "serviceAccountName": "named"}),
            "named",
        ),
    ] {
        setting.create(name, json!({"decryption": decryption})).await;
        failure(&setting, name).await;
        let role = logins.lock().last().unwrap()["role"].clone();
        assert_eq!(role, format!("{}_{account}", bed.namespace));
    }
}

/// Without a default account the controller itself decrypts, as with Flux, whatever else is locked down. Its identity goes to services
/// of the clouds and to Vaults that the operator lists, never to a server that only a file names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_identity_of_the_controller_is_not_sent_to_services_that_a_file_names() {
    let evil = Server::serve(|_: &Request| Reply::json(r#"{"value": "AAAA"}"#));
    let machine = Server::serve(|_: &Request| {
        Reply::json(r#"{"access_token": "machine-token", "expires_in": "3600"}"#)
    });
    let key = json!({"vault_url": evil.url(), "name": "k", "version": "1", "created_at": "2026-01-02T03:04:05Z", "enc": "eA"});
    let azure = encrypted(&json!({"azure_kv": [key]}));
    let key = json!({
        "vault_address": evil.url(), "engine_path": "transit", "key_name": "k", "created_at": "2026-01-02T03:04:05Z",
        "enc": "vault:v1:eA==",
    });
    let vault = encrypted(&json!({"hc_vault": [key]}));
    let arn = "arn:aws:kms:x.evil.example/#:1:key/k";
    let key = json!({"arn": arn, "created_at": "2026-01-02T03:04:05Z", "enc": "eA==", "aws_profile": ""});
    let aws = encrypted(&json!({"kms": [key]}));
    let locked_down = [
        Settings::default(),
        Settings {
            no_cross_namespace_refs: true,
            ..Settings::default()
        },
        Settings {
            no_cross_namespace_refs: true,
            default_service_account: Some("tenant".to_owned()),
            ..Settings::default()
        },
    ];
    for settings in locked_down {
        let mut identities = nobody_settings(Environment::of([
            ("AWS_ACCESS_KEY_ID", "AKIA"),
            ("AWS_SECRET_ACCESS_KEY", "geheim"),
        ]));
        identities.endpoints.azure_metadata = Some(machine.url());
        let files = [
            ("azure/secret.yaml", azure.as_str()),
            ("vault/secret.yaml", vault.as_str()),
            ("aws/secret.yaml", aws.as_str()),
        ];
        let setting = Setting::with_identities(&files, settings, Identities::new(identities)).await;
        for (name, told) in [
            ("azure", "credentials of a cloud identity are not sent to '"),
            ("vault", "there is no token for it"),
            ("aws", "region"),
        ] {
            let more = json!({"path": name, "decryption": {"provider": "sops"}});
            setting.create(name, more).await;
            let message = failure(&setting, name).await;
            assert!(message.contains(told), "{name}: {message}");
        }
    }
    assert_eq!(evil.requests().len() + machine.requests().len(), 0);
}
