//! Sets of templates that can call one another.

use std::collections::HashMap;
use std::sync::Arc;

use arcstr::ArcStr;

use crate::error::{Error, ErrorKind};
use crate::exec;
use crate::function::Functions;
use crate::lex::Delims;
use crate::parse::{self, ast::Tree};
use crate::session::Session;
use crate::value::Value;

/// What a key is that a map has not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// No value at all: Go's default, `missingkey=invalid`.
    #[default]
    Invalid,
    /// The zero value of the map's elements, which for most maps is nil: `missingkey=zero`. Helm's choice.
    Zero,
    /// An error: `missingkey=error`. Helm's choice where it is strict.
    Error,
}

/// The templates of a text that was read. Clones share them.
#[derive(Clone)]
pub struct Parsed(Arc<HashMap<ArcStr, Arc<Tree>>>);

impl std::fmt::Debug for Parsed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Templates by name. Clones share what was read, and cost little; so does [`Templates::child`].
#[derive(Clone)]
pub struct Templates {
    functions: Arc<Functions>,
    missing: MissingKey,
    left: ArcStr,
    right: ArcStr,
    /// What this set was made from, which it sees but does not change.
    parent: Option<Arc<Templates>>,
    trees: HashMap<ArcStr, Arc<Tree>>,
}

impl Templates {
    /// A set without templates. Those that are read into it can call these functions.
    pub fn new(functions: Arc<Functions>) -> Templates {
        Templates {
            functions,
            missing: MissingKey::default(),
            left: arcstr::literal!("{{"),
            right: arcstr::literal!("}}"),
            parent: None,
            trees: HashMap::new(),
        }
    }

    /// Says what missing keys are.
    #[must_use]
    pub fn with_missing_key(mut self, missing: MissingKey) -> Templates {
        self.missing = missing;
        self
    }

    /// Says what is around actions in texts that are read from now on. An empty one is `{{` or `}}`.
    #[must_use]
    pub fn with_delims(mut self, left: &str, right: &str) -> Templates {
        self.left = if left.is_empty() { "{{" } else { left }.into();
        self.right = if right.is_empty() { "}}" } else { right }.into();
        self
    }

    /// A set that has all templates of this one, and into which further ones can be read without changing it: for `tpl`.
    pub fn child(self: &Arc<Self>) -> Templates {
        Templates {
            parent: Some(self.clone()),
            trees: HashMap::new(),
            functions: self.functions.clone(),
            left: self.left.clone(),
            right: self.right.clone(),
            ..**self
        }
    }

    /// Reads a text: the templates it defines, and what is outside of these under the name `name`. One that is there already
    /// is replaced, unless the new one is blank.
    ///
    /// # Errors
    /// The text is no template, in Go's words. Nothing was added then.
    pub fn parse(&mut self, name: &str, text: &str) -> Result<(), Error> {
        self.add(&self.read(name, text)?);
        Ok(())
    }

    /// Reads a text without adding it: [`Templates::add`] adds it, also to other sets with the same functions.
    ///
    /// # Errors
    /// The text is no template, in Go's words.
    pub fn read(&self, name: &str, text: &str) -> Result<Parsed, Error> {
        let delims = Delims {
            left: &self.left,
            right: &self.right,
        };
        let trees = parse::parse(name, text, delims, &self.functions)?;
        Ok(Parsed(Arc::new(trees)))
    }

    /// Adds what was read, as [`Templates::parse`] does.
    pub fn add(&mut self, parsed: &Parsed) {
        for (name, tree) in parsed.0.iter() {
            if !tree.root.is_blank() || self.tree(name).is_none() {
                self.trees.insert(name.clone(), Arc::clone(tree));
            }
        }
    }

    /// Whether there is a template of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.tree(name).is_some()
    }

    /// The names of all templates, in no order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.trees.keys().map(ArcStr::as_str).collect();
        if let Some(parent) = &self.parent {
            let more = parent
                .names()
                .into_iter()
                .filter(|name| !self.trees.contains_key(*name));
            names.extend(more);
        }
        names
    }

    /// The functions that texts which are read into it can call.
    pub fn functions(&self) -> &Arc<Functions> {
        &self.functions
    }

    pub(crate) fn missing(&self) -> MissingKey {
        self.missing
    }

    pub(crate) fn tree(&self, name: &str) -> Option<&Tree> {
        let mut set = self;
        loop {
            if let Some(tree) = set.trees.get(name) {
                return Some(tree);
            }
            set = set.parent.as_deref()?;
        }
    }

    /// Executes a template with `data` as its dot, and gives what it writes.
    ///
    /// # Errors
    /// The template fails, in Go's words, or asks for more than the session allows, or there is none of the name.
    pub fn execute(&self, name: &str, data: &Value, session: &mut Session<'_>) -> Result<Vec<u8>, Error> {
        let mut out = Vec::new();
        self.execute_into(name, data, session, &mut out)?;
        Ok(out)
    }

    /// Like [`Templates::execute`], appending to `out`. After an error it holds what was written until then.
    ///
    /// # Errors
    /// Those of [`Templates::execute`].
    pub fn execute_into(
        &self,
        name: &str,
        data: &Value,
        session: &mut Session<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let Some(tree) = self.tree(name) else {
            let quoted = model::quote::quote(name);
            let text = format!("template: no template {quoted} associated with template \"gotpl\"");
            return Err(Error::of(ErrorKind::Execution, text));
        };
        exec::execute(self, tree, data, session, out)
    }
}
