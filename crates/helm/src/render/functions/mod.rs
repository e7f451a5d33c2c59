//! The functions that Helm adds to those of the language and of Sprig.

mod checks;
mod include;
mod json;
mod lookup;
mod toml;
pub(super) mod yaml;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

pub(super) use checks::{BEGIN, END};
use gotemplate::{Functions, Templates};
pub(super) use include::{size_when_parsed, without_no_value};
pub use lookup::Lookup;

/// What functions need to know while templates are rendered.
pub(super) struct Host {
    /// All templates of the charts.
    pub(super) templates: Arc<Templates>,
    /// How often each template is being included right now.
    pub(super) included: RefCell<HashMap<String, u32>>,
    /// Whether missing values are only remarked.
    pub(super) lint: bool,
    /// What was remarked.
    pub(super) remarks: RefCell<Vec<String>>,
    /// Who looks objects up in a cluster.
    pub(super) lookup: Option<Arc<dyn Lookup>>,
}

/// All functions that templates of charts can call.
pub(super) fn table() -> Functions {
    let mut functions = Functions::sprig();
    functions.remove("env").remove("expandenv");
    include::add(&mut functions);
    checks::add(&mut functions);
    yaml::add(&mut functions);
    json::add(&mut functions);
    toml::add(&mut functions);
    lookup::add(&mut functions);
    functions
}
