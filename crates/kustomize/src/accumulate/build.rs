//! What all kustomizations of one build share.

use std::cell::{Cell, RefCell, RefMut};
use std::sync::Arc;

use yaml::node::Texts;

use super::Spots;
use crate::options::Options;
use crate::problem::{InText, Problem};
use crate::resource::Resource;
use crate::schema::Schema;

/// One build.
pub(crate) struct Build<'o> {
    pub(crate) options: &'o Options<'o>,
    schema: RefCell<Arc<Schema>>,
    /// Whether a kustomization has named a schema.
    has_own_schema: Cell<bool>,
    built_in: Cell<BuiltIn>,
    warnings: RefCell<Vec<String>>,
    visits: Cell<usize>,
    /// What the resources say again and again.
    texts: RefCell<Texts>,
    /// Where resources come from.
    pub(super) spots: RefCell<Spots<'o>>,
}

/// What became of the built-in schema before a kustomization named one of its own. Kustomize reads the built-in one only
/// when it has to, and forgets about it when another one comes before that.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BuiltIn {
    /// Nothing had to be looked up in it: it plays no part any more.
    Unused,
    /// The scope of a kind was asked for that is not known without it: it is read after the other one, and tells what
    /// both tell.
    Asked,
    /// Something was merged by it: it was read first, so that the other one tells what both tell.
    Read,
}

/// So many kustomizations may be read in one build, counted as often as they are.
const MAX_VISITS: usize = 20_000;

impl<'o> Build<'o> {
    pub(crate) fn new(options: &'o Options<'o>) -> Self {
        Build {
            options,
            schema: RefCell::new(Arc::clone(&options.schema)),
            has_own_schema: Cell::new(false),
            built_in: Cell::new(BuiltIn::Unused),
            warnings: RefCell::new(Vec::new()),
            visits: Cell::new(0),
            texts: RefCell::default(),
            spots: RefCell::default(),
        }
    }

    pub(crate) fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema.borrow())
    }

    /// Notes that a resource is looked at.
    pub(crate) fn see(&self, resource: &Resource) {
        if self.built_in.get() == BuiltIn::Unused
            && !self.has_own_schema.get()
            && self.options.schema.of_kind(&resource.gvk()).is_none()
        {
            self.built_in.set(BuiltIn::Asked);
        }
    }

    /// Notes that something is merged.
    pub(crate) fn see_merge(&self) {
        if !self.has_own_schema.get() {
            self.built_in.set(BuiltIn::Read);
        }
    }

    /// Takes the schema that a kustomization names. The first one in a build counts.
    pub(crate) fn set_schema(&self, version: Option<&str>, document: Option<&[u8]>) -> Result<(), Problem> {
        if self.has_own_schema.get() {
            return Ok(());
        }
        match (version, document) {
            (Some(_), Some(_)) => Err("builtin version and custom schema provided, cannot use both"
                .to_owned()
                .into()),
            (_, Some(document)) => {
                let mut schema = Schema::from_openapi(document).map_err(|error| {
                    let message = format!("invalid schema file: {}", error.without_values());
                    Problem::in_text(InText::Line(error.line()), message)
                })?;
                match self.built_in.get() {
                    BuiltIn::Unused => schema.add_scopes(&self.options.schema),
                    BuiltIn::Asked => {
                        let own = std::mem::replace(&mut schema, Schema::clone(&self.options.schema));
                        schema.add_scopes(&own);
                        schema.add_missing_kinds(&own);
                    }
                    BuiltIn::Read => {
                        schema.add_scopes(&self.options.schema);
                        schema.add_missing_kinds(&self.options.schema);
                    }
                }
                *self.schema.borrow_mut() = Arc::new(schema);
                self.has_own_schema.set(true);
                Ok(())
            }
            (Some("v1.21.2"), None) => {
                self.has_own_schema.set(true);
                Ok(())
            }
            (None | Some(""), None) => Ok(()),
            (Some(_), None) => Err(Problem::of(
                "version",
                "the specified OpenAPI version is not built in",
            )),
        }
    }

    /// The texts that all resources share. They are to be given back before anything else is built.
    pub(crate) fn texts(&self) -> RefMut<'_, Texts> {
        self.texts.borrow_mut()
    }

    /// Forgets the texts that nobody uses, once all is read.
    pub(crate) fn forget_texts(&self) {
        self.texts.take();
    }

    pub(crate) fn warn(&self, warnings: Vec<String>) {
        self.warnings.borrow_mut().extend(warnings);
    }

    pub(crate) fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    /// Where the resources come from, once all are there.
    pub(crate) fn into_spots(self) -> Spots<'o> {
        self.spots.into_inner()
    }

    /// Counts one more kustomization.
    pub(crate) fn visit(&self) -> Result<(), String> {
        self.visits.set(self.visits.get() + 1);
        if self.visits.get() > MAX_VISITS {
            return Err(format!("more than {MAX_VISITS} kustomizations lead to one build"));
        }
        Ok(())
    }
}
