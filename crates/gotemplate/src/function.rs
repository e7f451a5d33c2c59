//! Functions that templates can call, and tables of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::error::Error;
use crate::session::Session;
use crate::templates::Templates;
use crate::value::{Kind, Map, Type, Value};

type Run = dyn Fn(&mut Call<'_, '_>) -> Result<Value, Error> + Send + Sync;

/// A function or method with the types of its parameters.
///
/// Arguments are checked as Go checks them before the function runs: it gets as many as it takes, each of the type that it
/// names. A nil [`Value::Nil`] is given where the type is `Any` and there is no value.
pub struct Function {
    pub(crate) params: Cow<'static, [Type]>,
    /// The type of the arguments that may follow, as many as one likes.
    pub(crate) rest: Option<Type>,
    pub(crate) special: Special,
    run: Box<Run>,
}

/// What the executor does itself, because it is more than a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    No,
    And,
    Or,
    Call,
}

impl Function {
    /// A function of just these parameters.
    pub fn new(
        params: &'static [Type],
        run: impl Fn(&mut Call<'_, '_>) -> Result<Value, Error> + Send + Sync + 'static,
    ) -> Function {
        Function {
            params: Cow::Borrowed(params),
            rest: None,
            special: Special::No,
            run: Box::new(run),
        }
    }

    /// A function of these parameters and any number of others of the type `rest`.
    pub fn variadic(
        params: &'static [Type],
        rest: Type,
        run: impl Fn(&mut Call<'_, '_>) -> Result<Value, Error> + Send + Sync + 'static,
    ) -> Function {
        Function {
            rest: Some(rest),
            ..Function::new(params, run)
        }
    }

    pub(crate) fn special(special: Special) -> Function {
        Function {
            special,
            ..Function::variadic(&[Type::Reflect], Type::Reflect, |_| Ok(Value::None))
        }
    }

    pub(crate) fn call(&self, call: &mut Call<'_, '_>) -> Result<Value, Error> {
        (self.run)(call)
    }
}

/// One call of a function: its arguments, and what it may use.
pub struct Call<'c, 'a> {
    pub(crate) args: &'c [Value],
    pub(crate) receiver: Option<&'c Value>,
    pub(crate) templates: &'c Templates,
    /// What is counted, what time it is, and what the embedder has brought.
    pub session: &'c mut Session<'a>,
}

impl<'c, 'a> Call<'c, 'a> {
    /// All arguments.
    pub fn args(&self) -> &'c [Value] {
        self.args
    }

    /// An argument; nil where there are not so many.
    pub fn arg(&self, index: usize) -> &'c Value {
        static NIL: Value = Value::Nil;
        self.args.get(index).unwrap_or(&NIL)
    }

    /// The object or map whose method is called.
    pub fn receiver(&self) -> Option<&'c Value> {
        self.receiver
    }

    /// The templates that the running one can call: those of `tpl` have their own.
    pub fn templates(&self) -> &'c Templates {
        self.templates
    }

    /// A string argument. What is not UTF-8 in it becomes `�`; functions for which that matters take [`Call::bytes`].
    pub fn str(&self, index: usize) -> Cow<'c, str> {
        match self.arg(index) {
            Value::Str(text) => Cow::Borrowed(text),
            other => String::from_utf8_lossy(other.as_bytes().unwrap_or_default()),
        }
    }

    /// The bytes of a string argument or of a `[]uint8`.
    pub fn bytes(&self, index: usize) -> &'c [u8] {
        self.arg(index).as_bytes().unwrap_or_default()
    }

    /// An integer argument.
    pub fn int(&self, index: usize) -> i64 {
        match self.arg(index) {
            Value::Int(_, number) => *number,
            Value::Object(object) => match object.scalar() {
                Some(Value::Int(_, number)) => number,
                _ => 0,
            },
            _ => 0,
        }
    }

    /// A float argument.
    pub fn float(&self, index: usize) -> f64 {
        match self.arg(index) {
            Value::Float(number) => *number,
            _ => 0.0,
        }
    }

    /// A boolean argument.
    pub fn bool(&self, index: usize) -> bool {
        matches!(self.arg(index), Value::Bool(true))
    }

    /// A map argument: the very map, not a copy. A nil one is an empty map that takes nothing.
    pub fn map(&self, index: usize) -> Map {
        match self.arg(index) {
            Value::Map(map) => map.clone(),
            Value::Object(object) if object.kind() == Kind::Map => object.fields().into_iter().collect(),
            _ => Map::nil(Type::Any),
        }
    }

    /// Executes the named template with `data` as its dot, and gives what it writes: what Helm's `include` does.
    ///
    /// # Errors
    /// Those of the template, and that there is none of the name.
    pub fn render(&mut self, name: &str, data: &Value) -> Result<Vec<u8>, Error> {
        self.templates.execute(name, data, self.session)
    }
}

/// A table of functions by name. What embedders add goes before what the language has; a later one of a name replaces an
/// earlier one.
#[derive(Clone)]
pub struct Functions {
    pub(crate) table: HashMap<Cow<'static, str>, Arc<Function>>,
}

impl Functions {
    /// The functions that are part of the language: `eq`, `printf`, `index` and others.
    pub fn builtin() -> Functions {
        let mut functions = Functions {
            table: HashMap::new(),
        };
        crate::funcs::add(&mut functions);
        functions
    }

    /// Those of the language, and all of Sprig's that Helm offers.
    pub fn sprig() -> Functions {
        let mut functions = Functions::builtin();
        crate::sprig::add(&mut functions);
        functions
    }

    /// Adds a function.
    pub fn insert(&mut self, name: impl Into<Cow<'static, str>>, function: Function) -> &mut Functions {
        self.table.insert(name.into(), Arc::new(function));
        self
    }

    /// Adds a function under a further name.
    pub(crate) fn alias(&mut self, name: &'static str, known: &str) {
        if let Some(function) = self.table.get(known).cloned() {
            self.table.insert(name.into(), function);
        }
    }

    /// Takes a function out, so that templates that call it are refused.
    pub fn remove(&mut self, name: &str) -> &mut Functions {
        self.table.remove(name);
        self
    }

    /// The function of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<Function>> {
        self.table.get(name)
    }

    /// All names, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.table.keys().map(AsRef::as_ref)
    }
}
