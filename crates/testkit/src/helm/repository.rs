//! The repository as it is served.

use bytes::Bytes;
use http::{Method, header};
use parking_lot::Mutex;

use super::chart::Chart;
use super::generated::Generated;
use super::index;
use crate::digest::sha256;
use crate::http::{Builder, ByteRange, Reply, Request, Service, is_unchanged};

/// Charts and their index.
#[derive(Debug, Default)]
pub struct Repository {
    state: Mutex<State>,
}

/// How the index names the archives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urls {
    /// By file name.
    #[default]
    Relative,
    /// By a whole address.
    Absolute,
}

#[derive(Debug, Default)]
struct State {
    charts: Vec<Entry>,
    urls: Urls,
    generated: Option<Generated>,
    /// Served in place of the real index.
    index: Option<String>,
}

#[derive(Debug)]
struct Entry {
    chart: Chart,
    archive: Bytes,
    digest: String,
    provenance: Option<String>,
}

/// A Helm repository over HTTP.
pub type Server = crate::http::Server<Repository>;

impl Server {
    /// Starts an empty repository that anyone may read.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// A repository with credentials or TLS.
    pub fn builder() -> Builder<Repository> {
        Builder::new(Repository::default())
    }
}

impl Repository {
    /// Adds a chart. One of the same name and version is replaced.
    pub fn add(&self, chart: &Chart) {
        self.insert(chart, None);
    }

    /// Adds a chart with a provenance file, which the callback makes of the archive.
    pub fn add_signed(&self, chart: &Chart, sign: impl FnOnce(&[u8]) -> String) {
        let provenance = sign(&chart.archive());
        self.insert(chart, Some(provenance));
    }

    fn insert(&self, chart: &Chart, provenance: Option<String>) {
        let archive = Bytes::from(chart.archive());
        let digest = sha256(&archive).replace("sha256:", "");
        self.remove(chart.name(), chart.version());
        self.state.lock().charts.push(Entry {
            chart: chart.clone(),
            archive,
            digest,
            provenance,
        });
    }

    /// Removes a chart. Says whether it was there.
    pub fn remove(&self, name: &str, version: &str) -> bool {
        let charts = &mut self.state.lock().charts;
        let before = charts.len();
        charts.retain(|entry| (entry.chart.name(), entry.chart.version()) != (name, version));
        charts.len() < before
    }

    /// How the index names the archives.
    pub fn set_urls(&self, urls: Urls) {
        self.state.lock().urls = urls;
    }

    /// Makes the index large: so many charts more, each in so many versions. A version takes about 250 bytes of the
    /// index, which is made while it is sent.
    pub fn generate(&self, charts: usize, versions: usize) {
        self.state.lock().generated = Some(Generated { charts, versions });
    }

    /// Serves this text in place of the index.
    pub fn set_index(&self, text: &str) {
        self.state.lock().index = Some(text.to_string());
    }
}

impl Service for Repository {
    fn reply(&self, request: &Request) -> Reply {
        if !matches!(request.method, Method::GET | Method::HEAD) {
            return Reply::status(405).with(header::ALLOW, "GET, HEAD");
        }
        let state = self.state.lock();
        let file = request.segments().pop().unwrap_or_default();
        if file == "index.yaml" {
            return state.index(request);
        }
        let name = file.strip_suffix(".prov").unwrap_or(&file);
        let entry = state.charts.iter().find(|entry| entry.chart.file_name() == name);
        let generated = || Some(state.generated?.find(&file)?.archive());
        match entry {
            Some(entry) if name == file => tagged(request, "application/gzip", entry.archive.clone()),
            Some(Entry {
                provenance: Some(provenance),
                ..
            }) => tagged(request, "text/plain", provenance.clone().into()),
            _ => match generated() {
                Some(archive) => tagged(request, "application/gzip", archive.into()),
                None => Reply::text("no such file\n").with_status(404),
            },
        }
    }
}

impl State {
    fn index(&self, request: &Request) -> Reply {
        const YAML: &str = "text/yaml";
        if let Some(text) = &self.index {
            return tagged(request, YAML, text.clone().into());
        }
        let charts = self.charts.iter().map(|entry| {
            let url = match self.urls {
                Urls::Relative => entry.chart.file_name(),
                Urls::Absolute => format!("{}/{}", request.origin(), entry.chart.file_name()),
            };
            (&entry.chart, url, Some(entry.digest.as_str()))
        });
        let entries = index::entries(charts);
        let Some(generated) = self.generated else {
            // A mapping without entries must say so, or it would be nothing.
            let head = if entries.is_empty() {
                "apiVersion: v1\nentries: {}\n"
            } else {
                index::HEAD
            };
            return tagged(request, YAML, format!("{head}{entries}{}", index::tail()).into());
        };
        // The whole text is never in memory: what it is made of tells whether it changed.
        let etag = format!("\"{}\"", sha256(format!("{generated:?}{entries}").as_bytes()));
        if is_unchanged(request, &etag) {
            return Reply::status(304).with(header::ETAG, etag);
        }
        let first = Bytes::from(format!("{}{entries}", index::HEAD));
        let pieces = std::iter::once(first)
            .chain(generated.pieces())
            .chain([Bytes::from(index::tail())]);
        Reply::ok(YAML, "").with(header::ETAG, etag).pieces(pieces)
    }
}

/// A body with its tag, or word that the client has it already.
fn tagged(request: &Request, media_type: &str, body: Bytes) -> Reply {
    let etag = format!("\"{}\"", sha256(&body));
    if is_unchanged(request, &etag) {
        return Reply::status(304).with(header::ETAG, etag);
    }
    ByteRange::of(request, body.len())
        .reply(media_type, body)
        .with(header::ETAG, etag)
}
