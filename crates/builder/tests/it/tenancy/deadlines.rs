//! Who owns the files of a build chooses the servers that it waits for. None of them keeps it waiting for ever.
//!
//! Time jumps to the next deadline when a test only waits: see the tests of `source`.

use std::sync::mpsc;
use std::time::Duration;

use builder::{CancelOnDrop, Cancellation, CloudServices, Decrypter, KeyServices, Remote, Sops, WaitBudget};
use kustomize::remote::{Fetcher, RepoSpec};
use secrecy::SecretString;
use sops::{Format, Keys, RemoteKey, VaultKey};
use source::git::Cache;
use source::identity::{Asker, Environment, Identities, Settings};
use source::kms;
use testkit::http::{Fault, Reply, Request, Server};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// A limit of real time.
const LIMIT: Duration = Duration::from_secs(60);

type Text = Server<fn(&Request) -> Reply>;

/// A server that never answers.
fn silent() -> Text {
    let server: Text = Server::serve(|_| Reply::text("content"));
    server.fail(Fault::hang().forever());
    server
}

/// Runs what waits on a thread of its own, as builds do, while another one drives clock and connections.
fn aside<T: Send + 'static>(work: impl FnOnce(&Remote) -> T + Send + 'static) -> T {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::temporary(folder.path()).unwrap();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let remote = Remote::new(runtime.handle().clone(), source::http::Options::default(), cache);
    let (stop, stopped) = oneshot::channel::<()>();
    let driver = std::thread::spawn(move || runtime.block_on(stopped).is_err());
    let (done, result) = mpsc::channel();
    let thread = std::thread::spawn(move || done.send(work(&remote)).is_ok());
    let result = result.recv_timeout(LIMIT).expect("a deadline");
    assert!(thread.join().unwrap());
    drop(stop);
    assert!(driver.join().unwrap());
    result
}

/// Time may also jump while a busy machine still connects: then the deadline of that is met.
fn is_deadline(error: &str) -> bool {
    ["timed out", "deadline has elapsed"]
        .iter()
        .any(|text| error.contains(text))
}

#[test]
fn remote_files_and_bases_have_a_deadline() {
    let server = silent();
    let url = format!("{}/deployment.yaml", server.url());
    let error = aside(move |remote| remote.file(&url).unwrap_err());
    assert!(is_deadline(&error), "{error}");
    let base = format!("{}/org/app.git", server.url());
    let error = aside(move |remote| {
        let spec = RepoSpec::parse(&base).unwrap();
        remote.repository(&spec).err().unwrap()
    });
    assert!(is_deadline(&error) || error.contains("60s"), "{error}");
}

/// Runs `work` with services that have a token for Vault. It waits on threads of `runtime`, which another thread may drive.
fn with_services<T>(
    runtime: &tokio::runtime::Handle,
    cancellation: Cancellation,
    work: impl FnOnce(&CloudServices<'_>) -> T,
) -> T {
    let mut keys = Keys::default();
    keys.vault_token = Some(SecretString::from("token"));
    let identities = Identities::new(Settings::new(Environment::of(std::iter::empty::<(&str, &str)>())));
    work(&CloudServices {
        keys: &keys,
        identities: &identities,
        asker: Asker::default(),
        http: source::http::Options::default(),
        aws: kms::aws::Endpoints::default(),
        gcp: None,
        vault: None,
        runtime: runtime.clone(),
        budget: WaitBudget::new(cancellation),
    })
}

/// A data key that the Vault of a server has encrypted.
fn vault_key(server: &Text) -> RemoteKey {
    RemoteKey {
        key: sops::Remote::Vault(VaultKey {
            address: server.url().trim_end_matches('/').to_owned(),
            engine_path: "transit".to_owned(),
            key_name: "k".to_owned(),
        }),
        ciphertext: "vault:v1:x".to_owned(),
    }
}

/// Thirty seconds for each request are no limit for a build that makes many.
#[test]
fn all_requests_of_a_build_to_key_services_together_have_a_deadline() {
    let server = silent();
    let key = vault_key(&server);
    let runtime = Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let handle = runtime.handle().clone();
    let (stop, stopped) = oneshot::channel::<()>();
    let driver = std::thread::spawn(move || runtime.block_on(stopped).is_err());
    let errors: Vec<String> = with_services(&handle, Cancellation::default(), |services| {
        (0..100).map(|_| services.decrypt(&key).unwrap_err()).collect()
    });
    drop(stop);
    assert!(driver.join().unwrap());
    let last = errors.last().unwrap();
    assert!(last.contains("all requests of a build"), "{last}");
    assert!(server.requests().len() <= 11, "{}", server.requests().len());
}

#[test]
fn a_file_with_many_recipients_makes_few_requests() {
    let server: Text = Server::serve(|_| Reply::status(403));
    let address = server.url();
    let recipient = format!(
        r#"{{"vault_address": "{address}", "engine_path": "transit", "key_name": "k", "enc": "vault:v1:x",
            "created_at": "2020-01-01T00:00:00Z"}}"#
    );
    let recipients = vec![recipient; 1000].join(",");
    let file = format!(
        r#"{{"a": "ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]", "sops": {{"hc_vault": [{recipients}],
            "lastmodified": "2020-01-01T00:00:00Z", "mac": "ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]",
            "version": "3.9.0"}}}}"#
    );
    let runtime = Runtime::new().unwrap();
    let error = with_services(runtime.handle(), Cancellation::default(), |services| {
        let sops = Sops::new(services.keys).asking(services);
        sops.decrypt(file.as_bytes(), Format::Json, Format::Json)
            .unwrap_err()
    });
    assert!(error.contains("none of the first 100 recipients"), "{error}");
    assert_eq!(server.requests().len(), 100);
}

/// Cancels with the guard once a request has arrived, while `work` waits for its answer on another thread.
fn cancel_while_waiting(
    runtime: &Runtime,
    server: &Text,
    guard: CancelOnDrop,
    work: impl FnOnce() -> String + Send,
) -> String {
    let mut requests = server.changes();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(work);
        let arrived = async {
            tokio::time::timeout(LIMIT, requests.wait_for(|count| *count > 0))
                .await
                .is_ok()
        };
        assert!(runtime.block_on(arrived), "no request");
        drop(guard);
        waiting.join().unwrap()
    })
}

/// The thread of a build that nobody waits for any more must not stay for as long as the servers like.
#[test]
fn a_cancelled_build_stops_waiting() {
    let runtime = Runtime::new().unwrap();

    let server = silent();
    let (guard, cancellation) = Cancellation::new();
    let key = vault_key(&server);
    let error = cancel_while_waiting(&runtime, &server, guard, || {
        with_services(runtime.handle(), cancellation, |services| {
            services.decrypt(&key).unwrap_err()
        })
    });
    assert!(error.contains("the build was cancelled"), "{error}");

    let server = silent();
    let (guard, cancellation) = Cancellation::new();
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::temporary(folder.path()).unwrap();
    let remote = Remote::new(runtime.handle().clone(), source::http::Options::default(), cache);
    let remote = remote.within(WaitBudget::new(cancellation));
    let url = format!("{}/deployment.yaml", server.url());
    let error = cancel_while_waiting(&runtime, &server, guard, || remote.file(&url).unwrap_err());
    assert!(error.contains("the build was cancelled"), "{error}");
}
