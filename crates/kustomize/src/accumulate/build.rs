//! What all kustomizations of one build share.

use std::cell::{Cell, RefCell, RefMut};
use std::sync::Arc;

use yaml::node::Texts;

use super::Spots;
use crate::options::Options;
use crate::problem::{InText, Problem};
use crate::schema::Schema;

/// One build.
pub(crate) struct Build<'o> {
    pub(crate) options: &'o Options<'o>,
    schema: RefCell<Arc<Schema>>,
    /// Whether a kustomization has named a schema.
    has_own_schema: Cell<bool>,
    warnings: RefCell<Vec<String>>,
    visits: Cell<usize>,
    /// What the resources say again and again.
    texts: RefCell<Texts>,
    /// Where resources come from.
    pub(super) spots: RefCell<Spots<'o>>,
}

/// So many kustomizations may be read in one build, counted as often as they are.
const MAX_VISITS: usize = 20_000;

impl<'o> Build<'o> {
    pub(crate) fn new(options: &'o Options<'o>) -> Self {
        Build {
            options,
            schema: RefCell::new(Arc::clone(&options.schema)),
            has_own_schema: Cell::new(false),
            warnings: RefCell::new(Vec::new()),
            visits: Cell::new(0),
            texts: RefCell::default(),
            spots: RefCell::default(),
        }
    }

    pub(crate) fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema.borrow())
    }

    /// Takes the schema that a kustomization names. The first one in a build counts; that of the root replaces the
    /// built-in one, others are added to it.
    pub(crate) fn set_schema(
        &self,
        version: Option<&str>,
        document: Option<&[u8]>,
        is_root: bool,
    ) -> Result<(), Problem> {
        if self.has_own_schema.get() {
            return Ok(());
        }
        match (version, document) {
            (Some(_), Some(_)) => Err("builtin version and custom schema provided, cannot use both"
                .to_owned()
                .into()),
            (_, Some(document)) => {
                let mut schema = Schema::from_openapi(document).map_err(|error| {
                    let message = format!("invalid schema file: {}", error.without_line());
                    Problem::in_text(InText::Line(error.line()), message)
                })?;
                schema.add_scopes(&self.options.schema);
                if !is_root {
                    schema.add_missing_kinds(&self.options.schema);
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
