//! The server: its state, how it is made, and how requests reach the verbs.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::Str;
use parking_lot::{Mutex, RwLock};
use smd::Schema;
use tokio::sync::watch;

use crate::auth::authenticate::Anonymous;
use crate::auth::{Authenticator, Issuer, Rbac, User};
use crate::catalog::Catalog;
use crate::custom::Custom;
use crate::fault::Faults;
use crate::kinds::{Builtins, Kinds};
use crate::listen::Authority;
use crate::metadata;
use crate::openapi::OpenApi;
use crate::requests::Requests;
use crate::simulator;
use crate::store::{LOG_LIMIT, Store};
use crate::{bootstrap, builtin, collect, crd, protobuf};

/// The largest body that is read, as with the real server.
pub(crate) const BODY_LIMIT: usize = 3 * 1024 * 1024;

/// Who issues the tokens of service accounts.
const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// A Kubernetes API in memory. Cloning gives another handle to the same server; it stops when [`Server::stop`] is called
/// or the last handle is gone.
#[derive(Clone)]
pub struct Server {
    pub(crate) state: Arc<State>,
    /// Who requests without credentials come from; nobody on a port, an administrator inside the process.
    pub(crate) peer: Option<User>,
    /// Stops the background work when the last handle is dropped.
    _guard: Arc<StopGuard>,
}

struct StopGuard(Arc<State>);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.stop.send_replace(true);
    }
}

/// How a server is set up.
#[derive(Clone)]
pub struct Builder {
    log_limit: usize,
    seed: Option<u64>,
    tokens: Vec<(Str, User)>,
    anonymous: Anonymous,
    simulator: Option<simulator::Options>,
    clock: Clock,
}

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Everything the server knows.
pub(crate) struct State {
    pub store: Store,
    kinds: RwLock<Arc<Kinds>>,
    /// Signals that other kinds are served.
    kinds_changed: watch::Sender<()>,
    pub rbac: RwLock<Rbac>,
    pub authenticator: Authenticator,
    pub faults: Faults,
    pub requests: Requests,
    pub openapi: OpenApi,
    pub schema: Arc<Schema>,
    /// What all custom resources share.
    pub custom: crd::Shared,
    pub builtins: Builtins,
    protobuf: OnceLock<protobuf::Reader>,
    random: Mutex<fastrand::Rng>,
    clock: Clock,
    /// Who signs the certificates of the server's ports.
    pub authority: Authority,
    stop: watch::Sender<bool>,
    pub progress: collect::Progress,
    /// How simulated workloads turn out.
    pub outcomes: simulator::Outcomes,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            log_limit: LOG_LIMIT,
            seed: None,
            tokens: Vec::new(),
            anonymous: Anonymous::Allowed,
            simulator: None,
            clock: Arc::new(Timestamp::now),
        }
    }
}

impl Builder {
    /// Keeps at most so many changes of each resource: who watches from further back gets `410 Gone`.
    pub fn log_limit(mut self, changes: usize) -> Self {
        self.log_limit = changes;
        self
    }

    /// Makes names and identifiers the same in every run.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Lets a user in by a bearer token.
    pub fn token(mut self, token: impl Into<Str>, user: User) -> Self {
        self.tokens.push((token.into(), user));
        self
    }

    /// Refuses requests without credentials on the port instead of letting them in as `system:anonymous`.
    pub fn refuse_anonymous(mut self) -> Self {
        self.anonymous = Anonymous::Refused;
        self
    }

    /// Makes workloads come up as if there were nodes.
    pub fn simulator(mut self, options: simulator::Options) -> Self {
        self.simulator = Some(options);
        self
    }

    /// Takes the time from `clock`.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Starts the server. Must be called inside a tokio runtime, which its background work runs on.
    pub fn start(self) -> Server {
        let schema = Arc::new(Schema::builtin());
        let builtins = Builtins {
            catalog: Catalog::builtin(),
            kinds: builtin::Kinds::new(&schema),
        };
        let custom = crd::Shared::new(&schema, builtins.kinds.types());
        let custom = custom.expect("the embedded schema has the type of metadata");
        let kinds = Kinds::new(&schema, &builtins, HashMap::new());
        let issuer = Issuer::new_key().and_then(|key| Issuer::new(ISSUER, &[ISSUER], &key));
        let issuer = issuer.expect("a key that was just made is one");
        let random = self
            .seed
            .map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        let state = Arc::new(State {
            store: Store::new(self.log_limit),
            kinds: RwLock::new(Arc::new(kinds)),
            kinds_changed: watch::Sender::new(()),
            rbac: RwLock::new(Rbac::default()),
            authenticator: Authenticator::new(self.tokens, issuer, self.anonymous),
            faults: Faults::default(),
            requests: Requests::default(),
            openapi: OpenApi::default(),
            schema,
            custom,
            builtins,
            protobuf: OnceLock::new(),
            random: Mutex::new(random),
            clock: self.clock,
            authority: Authority::new().expect("a certificate can be made of a new key"),
            stop: watch::Sender::new(false),
            progress: collect::Progress::default(),
            outcomes: simulator::Outcomes::default(),
        });
        let feed = state.store.feed();
        bootstrap::create(&state);
        tokio::spawn(collect::run(Arc::clone(&state), feed, self.simulator));
        Server {
            _guard: Arc::new(StopGuard(Arc::clone(&state))),
            peer: None,
            state,
        }
    }
}

impl Server {
    /// A server to be set up.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The same server, for somebody who holds it in its own process and so can do everything anyway.
    pub(crate) fn trusting(&self) -> Server {
        Server {
            peer: Some(User::new("sluice", &["system:masters"])),
            ..self.clone()
        }
    }

    /// Ends watches and background work.
    pub fn stop(&self) {
        self.state.stop.send_replace(true);
    }

    /// Faults to be injected into requests.
    pub fn faults(&self) -> &Faults {
        &self.state.faults
    }

    /// The count of requests so far.
    pub fn requests(&self) -> &Requests {
        &self.state.requests
    }

    /// Decides by name how simulated workloads turn out.
    pub fn outcomes(&self) -> &simulator::Outcomes {
        &self.state.outcomes
    }

    /// Forgets the history of all objects, as a compaction does: watches from older revisions get `410 Gone`.
    pub fn compact(&self) {
        self.state.store.compact();
    }

    /// Waits until the server's own controllers have worked off all changes so far.
    pub async fn settled(&self) {
        self.state.progress.settled(|| self.state.store.revision()).await;
    }
}

impl State {
    /// The current snapshot of what is served.
    pub(crate) fn kinds(&self) -> Arc<Kinds> {
        Arc::clone(&self.kinds.read())
    }

    /// Serves these definitions from now on, besides the built-in resources.
    pub(crate) fn serve(&self, definitions: HashMap<Str, Arc<Custom>>) {
        let kinds = Kinds::new(&self.schema, &self.builtins, definitions);
        *self.kinds.write() = Arc::new(kinds);
        self.kinds_changed.send_replace(());
    }

    /// Changes each time that other kinds may be served.
    pub(crate) fn kinds_changed(&self) -> watch::Receiver<()> {
        self.kinds_changed.subscribe()
    }

    /// Reads bodies in protobuf; made when the first one comes.
    pub(crate) fn protobuf(&self) -> &protobuf::Reader {
        self.protobuf.get_or_init(protobuf::Reader::new)
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Now, as metadata has it: whole seconds.
    pub(crate) fn now_text(&self) -> String {
        time_text(self.now())
    }

    /// So many seconds from now, as metadata has it.
    pub(crate) fn now_after(&self, seconds: i64) -> String {
        time_text(self.now() + SignedDuration::from_secs(seconds))
    }

    pub(crate) fn new_uid(&self) -> String {
        self.with_random(metadata::new_uid)
    }

    pub(crate) fn with_random<T>(&self, take: impl FnOnce(&mut fastrand::Rng) -> T) -> T {
        take(&mut self.random.lock())
    }

    /// Returns once the server is stopped.
    pub(crate) async fn stopped(&self) {
        let mut stop = self.stop.subscribe();
        // The sender lives as long as `self`, so this ends only when it says so.
        let _ = stop.wait_for(|stop| *stop).await;
    }

    pub(crate) async fn sleep(&self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.stopped() => {}
        }
    }
}

/// A time as metadata has it.
pub(crate) fn time_text(time: Timestamp) -> String {
    let whole = Timestamp::from_second(time.as_second()).unwrap_or(time);
    whole.to_string()
}
