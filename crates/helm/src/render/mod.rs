//! Templates of charts to texts.
//!
//! All templates of a chart and of those below it are read into one set, deepest paths first, so that what a parent
//! defines replaces what a chart below defines. Then each that is no partial is rendered with the values of its chart.

mod capabilities;
mod collect;
mod context;
mod failure;
mod files;
mod functions;
mod glob;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use collect::Template;
pub use functions::Lookup;
use functions::{Host, size_when_parsed, without_no_value};
use gotemplate::{Functions, MissingKey, Parsed, Session, Templates, Value, World};
use model::Map;

use crate::HelmVersion;
use crate::cache::Cache;
use crate::capabilities::Capabilities;
use crate::chart::Chart;

/// What is being installed.
#[derive(Clone, Debug)]
pub struct Release {
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// Whether an installed release is upgraded.
    pub is_upgrade: bool,
    /// The how manieth version of it this is.
    pub revision: i64,
}

/// How to render.
#[derive(Clone)]
pub struct Options {
    /// Whether values that are not there are errors.
    pub strict: bool,
    /// Whether missing values are only remarked.
    pub lint: bool,
    /// Who looks objects up; nobody finds nothing.
    pub lookup: Option<Arc<dyn Lookup>>,
    /// What templates may use up.
    pub limits: gotemplate::Limits,
    /// Tells the templates to stop, such as at a deadline; nobody lets them run on.
    pub stop: Option<Arc<Stop>>,
}

/// Tells a rendering to stop, by the reason, which becomes its error. It is asked every few thousand steps.
pub type Stop = dyn Fn() -> Option<String> + Send + Sync;

/// Helm counts a thousand templates of each name inside of one another; this is for all names together.
const DEPTH: u32 = 1_200;

impl Options {
    /// Options for charts that whoever runs the program has chosen, rather than a stranger: with generous limits.
    pub fn of_own_charts() -> Self {
        Options {
            limits: gotemplate::Limits {
                depth: DEPTH,
                ..gotemplate::Limits::generous()
            },
            ..Options::default()
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            strict: false,
            lint: false,
            lookup: None,
            stop: None,
            limits: gotemplate::Limits {
                depth: DEPTH,
                ..gotemplate::Limits::default()
            },
        }
    }
}

/// Why nothing was rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

/// What to render.
#[derive(Clone, Copy)]
pub struct Input<'i> {
    /// The chart, whose dependencies are sorted out.
    pub chart: &'i Chart,
    /// The values that [`coalesce`](crate::values::coalesce) has put together.
    pub values: &'i Map,
    /// What is installed.
    pub release: &'i Release,
    /// The cluster.
    pub capabilities: &'i Capabilities,
    /// How.
    pub options: &'i Options,
}

/// Templates that were read, by path and text.
type Known = Mutex<Cache<(String, Bytes), Read>>;

/// A template that was read.
#[derive(Clone)]
struct Read {
    parsed: Parsed,
    /// The bytes that it takes.
    size: usize,
}

/// Renders charts. It holds the table of functions, which is made once, and, if it shall, templates that were read. Clones share both.
#[derive(Clone)]
pub struct Engine {
    functions: Arc<Functions>,
    known: Option<Arc<Known>>,
}

impl Default for Engine {
    fn default() -> Self {
        Engine::new()
    }
}

impl Engine {
    /// An engine with all functions of Helm.
    pub fn new() -> Engine {
        Engine {
            functions: Arc::new(functions::table()),
            known: None,
        }
    }

    /// An engine that keeps templates which it has read, up to so many bytes: for processes that render charts again and again.
    pub fn remembering(bytes: usize) -> Engine {
        Engine {
            known: Some(Arc::new(Mutex::new(Cache::new(bytes)))),
            ..Engine::new()
        }
    }

    /// Renders all templates of a chart, by their paths. `remarks` are what Helm would log.
    ///
    /// # Errors
    /// The first template that is none, or fails, in the words of Helm.
    pub fn render(
        &self,
        input: &Input<'_>,
        world: &mut dyn World,
        remarks: &mut Vec<String>,
    ) -> Result<BTreeMap<String, String>, Error> {
        let Input {
            chart,
            values,
            release,
            capabilities,
            options,
        } = input;
        let version = capabilities.helm_version;
        let top = collect::Top {
            release: context::release(release),
            capabilities: self::capabilities::value(capabilities),
            values: context::top_values(values),
        };
        let found = collect::templates(chart, &top);
        let templates = Arc::new(self.parse(&found, options)?);
        let host = Host {
            templates: Arc::clone(&templates),
            included: RefCell::new(HashMap::new()),
            lint: options.lint,
            remarks: RefCell::new(Vec::new()),
            lookup: options.lookup.clone(),
        };
        let mut session = Session::new(options.limits, world).with_host(&host);
        if let Some(stop) = &options.stop {
            session = session.with_stop(stop.as_ref());
        }
        let rendered = execute(&templates, &found, &mut session, version);
        drop(session);
        remarks.append(&mut host.remarks.into_inner());
        rendered
    }

    fn parse(&self, found: &[Template], options: &Options) -> Result<Templates, Error> {
        let missing = if options.strict {
            MissingKey::Error
        } else {
            MissingKey::Zero
        };
        let mut templates = Templates::new(Arc::clone(&self.functions)).with_missing_key(missing);
        let mut room = usize::try_from(options.limits.memory).unwrap_or(usize::MAX);
        for template in found {
            let read = self.read(&templates, template, room)?;
            room = room.checked_sub(read.size).ok_or_else(|| too_large(template))?;
            templates.add(&read.parsed);
        }
        Ok(templates)
    }

    /// Reads a template, unless it is known, if there is room for what it takes once it is parsed.
    fn read(&self, templates: &Templates, template: &Template, room: usize) -> Result<Read, Error> {
        let known = self.known.as_ref().map(|known| {
            let key = (template.path.clone(), template.text.clone());
            (known, key)
        });
        if let Some((known, key)) = &known
            && let Some(read) = known.lock().unwrap_or_else(PoisonError::into_inner).get(key)
        {
            return Ok(read);
        }
        let text = String::from_utf8_lossy(&template.text);
        let size = size_when_parsed(&text);
        if size > room {
            return Err(too_large(template));
        }
        let parsed = templates
            .read(&template.path, &text)
            .map_err(|error| Error(failure::of_parsing(&template.path, &error)))?;
        let read = Read { parsed, size };
        if let Some((known, key)) = known {
            let weight = key.0.len() + key.1.len() + size;
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(key, read.clone(), weight);
        }
        Ok(read)
    }
}

fn too_large(template: &Template) -> Error {
    Error(format!(
        "parse error in ({}): the templates of the chart take more memory once they are parsed than functions may use: \
         write fewer actions",
        template.path
    ))
}

fn execute(
    templates: &Templates,
    found: &[Template],
    session: &mut Session<'_>,
    version: HelmVersion,
) -> Result<BTreeMap<String, String>, Error> {
    let mut rendered = BTreeMap::new();
    for template in found {
        let name = template.path.rsplit('/').next().unwrap_or_default();
        if name.starts_with('_') {
            continue;
        }
        template.context.insert("Template", Value::Map(template.place()));
        let dot = Value::Map(template.context.clone());
        let text = templates
            .execute(&template.path, &dot, session)
            .map_err(|error| Error(failure::of_execution(&template.path, &error, version)))?;
        let broken = std::str::from_utf8(&text)
            .err()
            .map(|error| (error, &text[..]))
            .or_else(|| Some((std::str::from_utf8(&template.text).err()?, &template.text[..])));
        if let Some((error, bytes)) = broken.filter(|_| !name.ends_with(".txt")) {
            return Err(Error(failure::of_bytes(&template.path, error, bytes)));
        }
        let text = String::from_utf8(text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let text = if text.contains("<no value>") {
            without_no_value(&text)
        } else {
            text
        };
        rendered.insert(template.path.clone(), text);
    }
    Ok(rendered)
}
