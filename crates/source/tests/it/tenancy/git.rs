//! What was fetched of a Git repository is for those who were let in to the same server as the same identity.

use std::io::Write;
use std::time::Duration;

use http::Method;
use source::archive::Tree;
use source::git::{Auth, Cache, DiskLimits, Reference, Remote, Settings, SshAuth};
use source::trust::Fingerprint;
use testkit::git::{self, Git, KeyKind, KeyPair};
use testkit::http::{Fault, Reply, Request, Server, Service, Socks};

use super::{Forger, through};
use crate::git::{Place, chain, content, fetch, fetched, wanted};

/// No test waits longer for what must not be blocked.
const SOON: Duration = Duration::from_secs(30);

fn login(user: &str) -> Auth {
    Auth::Basic {
        user: user.into(),
        password: "secret".into(),
    }
}

/// A server that lets Ada in and Bob, with a repository.
fn private() -> (git::Server, String, String) {
    let server = git::Server::builder()
        .basic("ada", "secret")
        .basic("bob", "secret")
        .start();
    let commit = server
        .repository("app")
        .commit("main", "Start", [("password", "geheim")]);
    let url = server.clone_url("app");
    (server, url, commit.to_string())
}

fn as_user(place: &Place, url: &str, user: &str) -> Remote {
    place.remote_with(url, |settings| settings.auth = login(user))
}

#[tokio::test]
async fn a_server_that_merely_claims_a_commit_brings_nobody_the_files() {
    let (_server, url, commit) = private();
    let place = Place::new();
    fetch(&as_user(&place, &url, "ada"), Reference::branch("main"))
        .await
        .unwrap();

    let forger = Server::serve(Forger::new(false));
    forger.claim("app", &commit);
    let socks = Socks::to(forger.address());
    let mallory = place.remote_with(&url, |settings| settings.http.proxy = through(&socks));
    for reference in [Reference::branch("main"), Reference::commit(commit.clone())] {
        let stolen = fetch(&mallory, reference).await;
        assert!(
            stolen.is_err(),
            "{:?}",
            stolen.map(|checkout| content(&*checkout))
        );
    }
    let asked = forger.asked.lock().clone();
    assert!(!asked.is_empty(), "the forger was asked for what it claims");
    assert!(
        asked.iter().all(|request| !request.contains("have ")),
        "it must not learn what others have: {asked:?}"
    );
}

#[tokio::test]
async fn commits_that_others_have_are_told_to_nobody() {
    let (_server, url, commit) = private();
    let place = Place::new();
    fetch(&as_user(&place, &url, "ada"), Reference::branch("main"))
        .await
        .unwrap();
    let forger = Server::serve(Forger::new(true));
    forger.git.repository("app").commit("main", "Mine", [("m", "1")]);
    let socks = Socks::to(forger.address());
    let mallory = place.remote_with(&url, |settings| settings.http.proxy = through(&socks));
    let own = fetch(&mallory, Reference::branch("main")).await.unwrap();
    assert_eq!(content(&*own), ["m 1"]);
    let asked = forger.asked.lock().clone();
    assert!(
        asked.iter().all(|request| !request.contains(&commit)),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_submodule_brings_nobody_the_files_of_another() {
    let (_server, url, commit) = private();
    let place = Place::new();
    fetch(&as_user(&place, &url, "ada"), Reference::branch("main"))
        .await
        .unwrap();

    let own = Git::new();
    own.repository("app").commit("main", "Mine", [("m", "1")]);
    own.repository("main")
        .change("main")
        .file(
            ".gitmodules",
            format!("[submodule \"s\"]\n\tpath = s\n\turl = {url}\n"),
        )
        .submodule("s", commit.parse().unwrap())
        .commit();
    let own = Server::serve(own);
    let socks = Socks::to(own.address());
    let main = url.replace("app.git", "main.git");
    let mallory = place.remote_with(&main, |settings| settings.http.proxy = through(&socks));
    let mut request = wanted(Reference::branch("main"));
    request.submodules = true;
    let stolen = fetched(mallory.fetch(&request).await);
    assert!(
        stolen.is_err(),
        "{:?}",
        stolen.map(|checkout| content(&*checkout))
    );
}

#[tokio::test]
async fn each_identity_transfers_for_itself_and_all_objects_of_it_once() {
    let (server, url, _) = private();
    let repository = server.repository("app");
    let place = Place::new();
    for (user, transfers) in [("ada", 1), ("ada", 1), ("bob", 2), ("bob", 2), ("ada", 2)] {
        let remote = as_user(&place, &url, user);
        fetch(&remote, Reference::branch("main")).await.unwrap();
        assert_eq!(repository.stats().fetches, transfers, "{user}");
    }
    let many = (0..8).map(|number| {
        let remote = as_user(&place, &url, ["ada", "bob"][number % 2]);
        async move { fetch(&remote, Reference::branch("main")).await.map(drop) }
    });
    repository.commit("main", "More", [("b", "2")]);
    for done in futures::future::join_all(many).await {
        done.unwrap();
    }
    assert_eq!(repository.stats().fetches, 4, "one for each identity");
}

#[tokio::test]
async fn a_renewed_token_of_one_identity_uses_what_is_there() {
    let (server, url, _) = private();
    let repository = server.repository("app");
    let place = Place::new();
    let issued = |user: &str, app: &str| {
        place.remote_with(&url, |settings| {
            settings.auth = login(user);
            settings.identity = Some(Fingerprint::builder("test").text(app).build());
        })
    };
    // The credentials differ as those of before and after a renewal do.
    for (user, app, transfers) in [("ada", "one", 1), ("bob", "one", 1), ("bob", "two", 2)] {
        fetch(&issued(user, app), Reference::branch("main"))
            .await
            .unwrap();
        assert_eq!(repository.stats().fetches, transfers, "{user} {app}");
    }
    // Who is let in no more gets nothing, whatever was fetched before.
    server.accept_only(&[]);
    let refused = issued("ada", "one");
    server.accept_only(&[testkit::http::Credential::basic("carol", "other")]);
    assert!(fetch(&refused, Reference::branch("main")).await.is_err());
}

#[test]
fn everything_that_decides_who_answers_separates_readers() {
    let place = Place::new();
    let scope = |url: &str, change: &dyn Fn(&mut Settings)| place.remote_with(url, change).scope();
    let (plain, url) = ("https://h.test/app", "https://ada:secret@h.test/app");
    let key = KeyPair::generate(KeyKind::Ed25519).private();
    let ssh = |known_hosts: &'static str| {
        let key = key.clone();
        move |settings: &mut Settings| {
            settings.auth = Auth::Ssh(SshAuth {
                identity: key.clone().into(),
                passphrase: None,
                known_hosts: known_hosts.to_owned(),
                user: None,
            });
        }
    };
    let all = [
        scope(plain, &|_| {}),
        scope(url, &|_| {}),
        scope("https://ada:other@h.test/app", &|_| {}),
        scope(plain, &|settings| settings.auth = login("ada")),
        scope(plain, &|settings| settings.auth = login("bob")),
        scope(plain, &|settings| settings.auth = Auth::Bearer("ada".into())),
        scope(plain, &|settings| {
            settings.http.tls.authorities = Some(b"own".to_vec());
        }),
        scope(plain, &|settings| {
            settings.http.tls.certificate = Some(b"own".to_vec());
        }),
        scope(plain, &|settings| settings.http.tls.accept_any = true),
        scope(plain, &|settings| {
            settings.http.proxy = Some(source::http::Proxy {
                address: "http://own.test".into(),
                login: None,
            });
        }),
        scope("ssh://git@h.test/app", &ssh("h.test ssh-ed25519 A")),
        scope("ssh://git@h.test/app", &ssh("h.test ssh-ed25519 B")),
    ];
    for (at, one) in all.iter().enumerate() {
        for other in &all[at + 1..] {
            assert!(one != other, "the scope number {at} is that of another");
        }
    }
    assert!(scope(plain, &|_| {}) == scope(plain, &|settings| settings.timeout = SOON));
}

#[tokio::test]
async fn a_server_that_hangs_blocks_nobody_else() {
    let (_server, url, commit) = private();
    let place = Place::new();
    let forger = Server::serve(Forger::new(false));
    forger.claim("app", &commit);
    let socks = Socks::to(forger.address());
    let mallory = place.remote_with(&url, |settings| settings.http.proxy = through(&socks));
    // She is known to the server, so that what hangs is the transfer.
    mallory.list(&Reference::branch("main")).await.unwrap();
    let mut seen = forger.changes();
    let before = forger.requests().len();
    forger.fail(Fault::delay(Duration::ZERO).method(Method::POST));
    forger.fail(Fault::hang().method(Method::POST).forever());
    let hanging = tokio::spawn(async move { fetch(&mallory, Reference::branch("main")).await.map(drop) });
    let begun = seen.wait_for(|_| forger.requests().len() >= before + 2);
    tokio::time::timeout(SOON, begun).await.unwrap().unwrap();

    let ada = as_user(&place, &url, "ada");
    let got = tokio::time::timeout(SOON, fetch(&ada, Reference::branch("main"))).await;
    assert_eq!(
        content(&*got.expect("Ada must not wait").unwrap()),
        ["password geheim"]
    );
    assert!(!hanging.is_finished());
    hanging.abort();
}

#[tokio::test]
async fn one_slow_transfer_does_not_block_another_of_the_same_repository() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    server.repository("app").commit("other", "Other", [("b", "2")]);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    remote.list(&Reference::branch("main")).await.unwrap();
    let mut seen = server.changes();
    let before = server.requests().len();
    server.fail(Fault::delay(Duration::ZERO).method(Method::POST));
    server.fail(Fault::hang().method(Method::POST));
    let slow = remote.clone();
    let hanging = tokio::spawn(async move { fetch(&slow, Reference::branch("main")).await.map(drop) });
    let begun = seen.wait_for(|_| server.requests().len() >= before + 2);
    tokio::time::timeout(SOON, begun).await.unwrap().unwrap();

    let got = tokio::time::timeout(SOON, fetch(&remote, Reference::branch("other"))).await;
    assert_eq!(content(&*got.expect("it must not wait").unwrap()), ["b 2"]);
    assert!(!hanging.is_finished());
    hanging.abort();
}

/// A pack of a few kilobytes with one file of zeros.
async fn zeros(bytes: usize) -> (git::Server, Place, Result<Vec<String>, String>) {
    let server = git::Server::start();
    let file = vec![0; bytes];
    server
        .repository("app")
        .change("main")
        .file("zeros", file)
        .commit();
    let place = Place::new();
    let fetched = fetch(&place.remote(&server.clone_url("app")), Reference::branch("main")).await;
    let fetched = fetched.map(|checkout| {
        let mut file = checkout.open("zeros").unwrap();
        let copied = std::io::copy(&mut file, &mut std::io::sink()).unwrap();
        vec![copied.to_string()]
    });
    (server, place, fetched.map_err(|error| chain(&error)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_too_large_for_the_memory_is_refused() {
    let limit = 100 << 20;
    let (server, _place, fetched) = zeros(limit + 1).await;
    let error = fetched.unwrap_err();
    let url = server.clone_url("app");
    for part in [&url, "a blob of", "104857601 bytes", "more than 104857600"] {
        assert!(error.contains(part), "{part} is not in {error}");
    }
    let (_server, _place, fetched) = zeros(limit).await;
    assert_eq!(fetched.unwrap(), [limit.to_string()]);
}

#[tokio::test]
async fn a_file_of_submodules_that_is_too_large_is_not_read() {
    let server = git::Server::start();
    let app = server.repository("app");
    let commit = app.commit("main", "Start", [("a", "1")]);
    let text = format!(
        "[submodule \"s\"]\n\tpath = s\n\turl = {}\n",
        server.clone_url("app")
    );
    app.change("main")
        .file(".gitmodules", text + &"#".repeat(1 << 20))
        .submodule("s", commit)
        .commit();
    let mut request = wanted(Reference::branch("main"));
    request.submodules = true;
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    let error = chain(&fetched(remote.fetch(&request).await).unwrap_err());
    assert!(
        error.contains(".gitmodules") && error.contains("more than 1048576"),
        "{error}"
    );
}

/// Answers a fetch with a pack that Mallory has made.
struct Packs {
    git: Git,
    pack: Vec<u8>,
}

impl Service for Packs {
    fn reply(&self, request: &Request) -> Reply {
        let reply = self.git.reply(request);
        if !String::from_utf8_lossy(&request.body).contains("command=fetch") {
            return reply;
        }
        Reply::ok("application/x-git-upload-pack-result", answer(&self.pack))
    }
}

/// The answer to a fetch. The last byte of the pack is in a packet of its own.
fn answer(pack: &[u8]) -> Vec<u8> {
    let mut body = b"000dpackfile\n".to_vec();
    let (most, last) = pack.split_at(pack.len() - 1);
    for part in most.chunks(60_000).chain([last]) {
        body.extend(format!("{:04x}\x01", part.len() + 5).bytes());
        body.extend(part);
    }
    body.extend(b"0000");
    body
}

/// An entry of a pack.
fn entry(pack: &mut Vec<u8>, kind: u8, base: &[u8], content: &[u8]) -> u64 {
    let offset = pack.len() as u64;
    let mut size = content.len() >> 4;
    let first = (kind << 4) | (content.len() & 15) as u8;
    pack.push(if size > 0 { first | 0x80 } else { first });
    while size > 0 {
        let rest = size >> 7;
        pack.push((size & 0x7f) as u8 | if rest > 0 { 0x80 } else { 0 });
        size = rest;
    }
    pack.extend(base);
    let mut encoder = flate2::write::ZlibEncoder::new(pack, flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap();
    offset
}

/// A number as deltas have it.
fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A delta that makes `size` bytes of a base of that size: copies of its first 65,536 bytes, and one byte of its own.
fn delta(size: u64, own: u8) -> Vec<u8> {
    let mut delta = [number(size), number(size)].concat();
    // A copy that names neither offset nor size has 65,536 bytes.
    delta.extend(std::iter::repeat_n(0x80, (size / 65_536) as usize - 1));
    delta.extend([0xb0, 0xff, 0xff, 1, own]);
    delta
}

/// How far before an entry its base is.
fn back(mut distance: u64) -> Vec<u8> {
    let mut bytes = vec![(distance & 0x7f) as u8];
    while distance > 0x7f {
        distance = (distance >> 7) - 1;
        bytes.push((distance & 0x7f) as u8 | 0x80);
    }
    bytes.reverse();
    bytes
}

/// Mallory's pack has a chain of deltas, each of which has two that build on it: all objects of the chain are held at once.
fn chain_of_deltas(length: usize, size: u64) -> Vec<u8> {
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend((2 * length as u32 + 1).to_be_bytes());
    let mut base = entry(&mut pack, 3, &[], &vec![0; size as usize]);
    for step in 0..length as u8 {
        let mut last = base;
        for own in [2 * step + 1, 2 * step + 2] {
            let distance = back(pack.len() as u64 - base);
            last = entry(&mut pack, 6, &distance, &delta(size, own));
        }
        base = last;
    }
    let sum = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY, &pack);
    pack.extend(sum.as_ref());
    pack
}

async fn received(pack: Vec<u8>) -> String {
    let git = Git::new();
    git.repository("app").commit("main", "Start", [("a", "1")]);
    let server = Server::serve(Packs { git, pack });
    let url = format!("{}/app.git", server.url());
    let place = Place::new();
    let error = fetch(&place.remote(&url), Reference::branch("main")).await;
    chain(&error.unwrap_err())
}

#[tokio::test(flavor = "multi_thread")]
async fn deltas_that_take_too_much_memory_are_refused() {
    // Each object of the chain has 32 MiB, all have 1 GiB.
    let error = received(chain_of_deltas(31, 32 << 20)).await;
    assert!(error.contains("what is made of its deltas"), "{error}");
    // One object of 100 MiB, of which a small delta makes another one.
    let error = received(chain_of_deltas(1, 100 << 20)).await;
    assert!(
        error.contains("chain of deltas") && error.contains("134217728"),
        "{error}"
    );
    // The same in small is in order: what is missing is the commit.
    let error = received(chain_of_deltas(31, 1 << 20)).await;
    assert!(error.contains("is missing"), "{error}");
}

/// What a program of this size would be: it does not compress.
fn random(bytes: usize) -> Vec<u8> {
    let mut random = vec![0; bytes];
    aws_lc_rs::rand::fill(&mut random).unwrap();
    random
}

#[tokio::test(flavor = "multi_thread")]
async fn repositories_of_an_owner_have_a_share_of_the_disk() {
    let server = git::Server::start();
    for name in ["r0", "r1", "r2", "r3", "large"] {
        let bytes = if name == "large" { 300_000 } else { 60_000 };
        let change = server.repository(name).change("main");
        change.file("data", random(bytes)).commit();
    }
    let folder = tempfile::tempdir().unwrap();
    let limits = DiskLimits {
        total: 1_000_000,
        owner: 200_000,
    };
    let cache = Cache::open_with(folder.path(), limits).unwrap();
    let fetch = |name: &str, owner: &str| {
        let mut settings = Settings::new(server.clone_url(name).parse().unwrap());
        settings.owner = owner.to_owned();
        let remote = Remote::new(settings, cache.clone());
        async move { fetch(&remote, Reference::branch("main")).await }
    };
    let transfers = |name: &str| server.repository(name).stats().fetches;
    fetch("r0", "ada").await.unwrap();
    let mut read = Vec::new();
    for name in ["r0", "r1", "r2"] {
        read.push(fetch(name, "mallory").await.unwrap());
    }
    assert_eq!(transfers("r0"), 2, "each owner fetches for itself");

    // What is being read makes no room. Nobody else has anything to do with Mallory's share.
    fetch("r3", "ada").await.unwrap();
    let error = chain(&fetch("r3", "mallory").await.unwrap_err());
    assert!(
        error.contains("'mallory' have more than 200000 bytes") && !error.contains("ada"),
        "{error}"
    );
    drop(read);

    // Now what Mallory used least recently makes room, and of others nothing.
    fetch("r3", "mallory").await.unwrap();
    fetch("r0", "ada").await.unwrap();
    fetch("r2", "mallory").await.unwrap();
    assert_eq!((transfers("r0"), transfers("r2")), (2, 1));
    fetch("r0", "mallory").await.unwrap();
    assert_eq!(transfers("r0"), 3);
    let error = chain(&fetch("large", "mallory").await.unwrap_err());
    assert!(error.contains("'mallory' have more than 200000 bytes"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn owners_with_many_repositories_push_nobody_out() {
    let server = git::Server::start();
    for number in 0..8 {
        let change = server.repository(&format!("r{number}")).change("main");
        change.file("data", random(60_000)).commit();
    }
    let folder = tempfile::tempdir().unwrap();
    let limits = DiskLimits {
        total: 400_000,
        owner: 300_000,
    };
    let cache = Cache::open_with(folder.path(), limits).unwrap();
    let fetch = async |number: usize, owner: &str| {
        let url = server.clone_url(&format!("r{number}"));
        let mut settings = Settings::new(url.parse().unwrap());
        settings.owner = owner.to_owned();
        let remote = Remote::new(settings, cache.clone());
        fetch(&remote, Reference::branch("main")).await.unwrap();
    };
    // Ada used hers less recently than anybody.
    fetch(7, "ada").await;
    for owner in ["mallory", "eve"] {
        for number in 0..7 {
            fetch(number, owner).await;
        }
    }
    fetch(7, "ada").await;
    assert_eq!(server.repository("r7").stats().fetches, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_end_its_pack_holds_no_memory() {
    // Indexing it takes most of the memory for objects.
    let pack = chain_of_deltas(7, 24 << 20);
    let serve = || {
        let git = Git::new();
        git.repository("app").commit("main", "Start", [("a", "1")]);
        let pack = pack.clone();
        Server::serve(Packs { git, pack })
    };
    let place = Place::new();
    let remote_of = |server: &Server<Packs>| place.remote(&format!("{}/app.git", server.url()));
    let slow = serve();
    let remote = remote_of(&slow);
    remote.list(&Reference::branch("main")).await.unwrap();
    let mut seen = slow.changes();
    let before = slow.requests().len();
    slow.fail(Fault::delay(Duration::ZERO).method(Method::POST));
    // What does not come is the last byte of the pack and the end.
    slow.fail(Fault::slow(answer(&pack).len() - 10, 100 * SOON).method(Method::POST));
    let hanging = tokio::spawn(async move { fetch(&remote, Reference::branch("main")).await.map(drop) });
    let begun = seen.wait_for(|_| slow.requests().len() >= before + 2);
    tokio::time::timeout(SOON, begun).await.unwrap().unwrap();
    // Time to read all that there is.
    tokio::time::sleep(Duration::from_secs(3)).await;

    let other = serve();
    let remote = remote_of(&other);
    let ended = tokio::time::timeout(SOON, fetch(&remote, Reference::branch("main"))).await;
    // The pack is in order, but for the commit, which is not in it.
    let error = chain(&ended.expect("nobody may wait for the slow server").unwrap_err());
    assert!(error.contains("is missing"), "{error}");
    assert!(!hanging.is_finished());
    hanging.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_least_recently_used_repositories_make_room_for_others() {
    let server = git::Server::start();
    let folder = tempfile::tempdir().unwrap();
    let limits = DiskLimits {
        total: 400_000,
        owner: 400_000,
    };
    let cache = Cache::open_with(folder.path(), limits).unwrap();
    for number in 0..12 {
        let name = format!("r{number}");
        let change = server.repository(&name).change("main");
        change.file("data", random(100_000)).commit();
        let mut settings = Settings::new(server.clone_url(&name).parse().unwrap());
        settings.owner = format!("namespace-{}", number % 3);
        let remote = Remote::new(settings, cache.clone());
        fetch(&remote, Reference::branch("main")).await.unwrap();
    }
}
