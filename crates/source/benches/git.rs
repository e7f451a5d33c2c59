//! A repository with 50,000 files: the first clone, then fetches after one file has changed.
//!
//! `cargo bench -p source --bench git` prints the times and fails if a fetch takes a tenth of the clone or more. The server is
//! the real `git http-backend` where there is a `git` program, else the test kit's.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use source::git::{Cache, Outcome, Reference, Remote, Request, Settings};

const FILES: usize = 50_000;
const DIRECTORIES: usize = 200;
const CHANGES: usize = 5;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let place = tempfile::tempdir().expect("a temporary directory can be made");
    let (server, url): (Box<dyn Repository>, String) = match real(place.path()) {
        Some(found) => found,
        None => served_by_the_test_kit(),
    };
    let cache = Cache::open(place.path().join("cache")).expect("the cache can be written");
    let mut settings = Settings::new(url.parse().expect("the server has a URL"));
    settings.timeout = Duration::from_secs(600);
    let remote = Remote::new(settings, cache);
    let clone = runtime.block_on(fetch(&remote));
    println!(
        "{}: clone of {FILES} files: {clone:?}, the server's part {:?}",
        server.name(),
        server.busy()
    );
    let begun = Instant::now();
    runtime
        .block_on(remote.list(&Reference::branch("main")))
        .expect("the server answers");
    println!(
        "poll: {:?}, the server's part {:?}",
        begun.elapsed(),
        server.busy()
    );
    let mut fetches = Vec::new();
    for number in 0..CHANGES {
        server.change(number);
        let took = runtime.block_on(fetch(&remote));
        let share = took.as_secs_f64() / clone.as_secs_f64() * 100.0;
        println!(
            "fetch of one changed file: {took:?} ({share:.1} %), the server's part {:?}",
            server.busy()
        );
        fetches.push(took);
    }
    fetches.sort();
    let median = fetches[CHANGES / 2];
    assert!(
        median * 10 < clone,
        "a fetch took {median:?}, a tenth of the clone's {clone:?} or more"
    );
}

async fn fetch(remote: &Remote) -> Duration {
    let request = Request {
        reference: Reference::branch("main"),
        ..Request::default()
    };
    let begun = Instant::now();
    let outcome = remote.fetch(&request).await.expect("the server answers");
    assert!(matches!(outcome, Outcome::Fetched(_)));
    begun.elapsed()
}

/// A repository that can be changed.
trait Repository {
    fn name(&self) -> &'static str;
    fn change(&self, number: usize);
    /// The time that the server itself was at work since it was asked last, if it is known.
    fn busy(&self) -> Option<Duration>;
}

fn path(number: usize) -> String {
    format!("d{}/f{number}.yaml", number % DIRECTORIES)
}

/// Something like a manifest of 600 bytes.
fn text(number: usize) -> String {
    let line = |line: usize| {
        format!(
            "field-{line}: {:x}\n",
            (number + 1) * (line + 7919) * 2_654_435_761
        )
    };
    (0..20).map(line).collect()
}

struct TestKit {
    server: testkit::git::Server,
}

impl Repository for TestKit {
    fn busy(&self) -> Option<Duration> {
        None
    }

    fn name(&self) -> &'static str {
        "test kit"
    }

    fn change(&self, number: usize) {
        self.server
            .repository("app")
            .commit("main", "Change", [(path(number).as_str(), "changed\n")]);
    }
}

fn served_by_the_test_kit() -> (Box<dyn Repository>, String) {
    let server = testkit::git::Server::start();
    let mut change = server.repository("app").change("main");
    for number in 0..FILES {
        change = change.file(&path(number), text(number));
    }
    change.commit();
    let url = server.clone_url("app");
    (Box::new(TestKit { server }), url)
}

struct Real {
    directory: std::path::PathBuf,
    busy: Arc<AtomicU64>,
    _server: testkit::http::Server<Backend>,
}

fn real(place: &Path) -> Option<(Box<dyn Repository>, String)> {
    Command::new("git").arg("--version").output().ok()?;
    let directory = place.join("app");
    std::fs::create_dir(&directory).ok()?;
    git(&directory, &["init", "-q", "-b", "main"], "");
    let mut stream =
        String::from("commit refs/heads/main\ncommitter A <a@x> 1700000000 +0000\ndata 5\nStart\n");
    for number in 0..FILES {
        let text = text(number);
        stream.push_str(&format!(
            "M 644 inline {}\ndata {}\n{text}\n",
            path(number),
            text.len()
        ));
    }
    git(&directory, &["fast-import", "--quiet"], &stream);
    git(&directory, &["gc", "-q"], "");
    let busy = Arc::<AtomicU64>::default();
    let server = testkit::http::Server::serve(Backend {
        root: place.to_owned(),
        busy: busy.clone(),
    });
    let url = format!("{}/app/.git", server.url());
    Some((
        Box::new(Real {
            directory,
            busy,
            _server: server,
        }),
        url,
    ))
}

impl Repository for Real {
    fn busy(&self) -> Option<Duration> {
        Some(Duration::from_micros(self.busy.swap(0, Ordering::Relaxed)))
    }

    fn name(&self) -> &'static str {
        "git http-backend"
    }

    fn change(&self, number: usize) {
        let head = "commit refs/heads/main\ncommitter A <a@x> 1700000000 +0000\ndata 6\nChange\n";
        let stream = format!(
            "{head}from refs/heads/main^0\nM 644 inline {}\ndata 8\nchanged\n\n",
            path(number)
        );
        git(&self.directory, &["fast-import", "--quiet"], &stream);
    }
}

fn git(directory: &Path, arguments: &[&str], input: &str) {
    use std::io::Write;
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(directory)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let mut child = command.spawn().expect("git starts");
    child
        .stdin
        .take()
        .expect("it was piped")
        .write_all(input.as_bytes())
        .expect("git reads its input");
    assert!(child.wait().expect("git ends").success(), "git {arguments:?}");
}

/// `git http-backend` behind a server of the test kit.
struct Backend {
    root: std::path::PathBuf,
    /// The time that the server took, in microseconds: no client can be faster.
    busy: Arc<AtomicU64>,
}

impl testkit::http::Service for Backend {
    fn reply(&self, request: &testkit::http::Request) -> testkit::http::Reply {
        use std::io::Write;
        let begun = Instant::now();
        let header = |name: &str| request.header(name).unwrap_or_default().to_owned();
        let mut child = Command::new("git")
            .arg("http-backend")
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("REQUEST_METHOD", request.method.as_str())
            .env("PATH_INFO", request.path())
            .env("QUERY_STRING", request.uri.query().unwrap_or_default())
            .env("CONTENT_TYPE", header("content-type"))
            .env("GIT_PROTOCOL", header("git-protocol"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("git starts");
        child
            .stdin
            .take()
            .expect("it was piped")
            .write_all(&request.body)
            .expect("git reads its input");
        let output = child.wait_with_output().expect("git ends").stdout;
        let end = output
            .windows(4)
            .position(|bytes| bytes == b"\r\n\r\n")
            .expect("there are header fields");
        let head = String::from_utf8_lossy(&output[..end]).into_owned();
        let media_type = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Type: "))
            .unwrap_or_default();
        self.busy
            .fetch_add(begun.elapsed().as_micros() as u64, Ordering::Relaxed);
        testkit::http::Reply::ok(media_type, output[end + 4..].to_vec())
    }
}
