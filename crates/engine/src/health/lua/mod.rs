//! Health by scripts in Lua, as Argo CD has them.
//!
//! A script finds the object in the variable `obj` and returns a table with `status`, one of Argo CD's states, and perhaps
//! `message`. It runs alone, in a fresh state, with a limit of instructions and of memory in the place of Argo CD's deadline of one
//! second, so that the same script always comes to the same end.

mod sandbox;
mod scripts;
mod time;
mod value;

use std::str::FromStr;

use jiff::Timestamp;
use model::health::State;
use model::{Health, Value};

pub use scripts::{Script, Scripts};

/// A script that was read.
pub(crate) struct Compiled {
    code: Vec<u8>,
    libraries: Libraries,
}

/// What a script may call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Libraries {
    /// The basics, tables, and `os.time` and `os.date`.
    #[default]
    Basic,
    /// Also texts and numbers. Only for scripts whose author is trusted: patterns of texts can take long, and nothing stops
    /// them.
    Open,
}

/// A script that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the health script for {group}/{kind} cannot be read: {problem}")]
pub struct Error {
    group: String,
    kind: String,
    problem: String,
}

const INVALID_STATE: &str = "Lua returned an invalid health status";

impl Compiled {
    fn new(source: &str, libraries: Libraries) -> Result<Self, String> {
        let lua = sandbox::open(libraries, Timestamp::UNIX_EPOCH).map_err(|error| problem(&error))?;
        let function = lua
            .load(source)
            .set_name("=health")
            .set_mode(mlua::chunk::ChunkMode::Text);
        let function = function.into_function().map_err(|error| problem(&error))?;
        Ok(Compiled {
            code: function.dump(false),
            libraries,
        })
    }

    /// What the script says of an object; nothing where it says nothing.
    fn assess(&self, object: &Value, now: Timestamp) -> Option<Health> {
        self.run(object, now)
            .unwrap_or_else(|error| Some(Health::because(State::Unknown, problem(&error))))
    }

    fn run(&self, object: &Value, now: Timestamp) -> mlua::Result<Option<Health>> {
        let lua = sandbox::open(self.libraries, now)?;
        lua.globals().set("obj", value::lua(&lua, object)?)?;
        let chunk = lua.load(&self.code[..]).set_mode(mlua::chunk::ChunkMode::Binary);
        let answers: mlua::MultiValue = chunk.call(())?;
        match answers.into_iter().next_back() {
            None | Some(mlua::Value::Nil) => Ok(None),
            Some(mlua::Value::Table(table)) => health(&table),
            Some(other) => Err(mlua::Error::runtime(format!(
                "expect table output from Lua script, not {}",
                other.type_name()
            ))),
        }
    }
}

fn health(table: &mlua::Table) -> mlua::Result<Option<Health>> {
    // What is read raw cannot run code of the script outside of its limits.
    let text = |name: &str| match table.raw_get::<mlua::Value>(name) {
        Ok(mlua::Value::String(text)) => text.to_string_lossy(),
        Ok(mlua::Value::Integer(number)) => number.to_string(),
        Ok(mlua::Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    if table.is_empty() && table.pairs::<mlua::Value, mlua::Value>().next().is_none() {
        return Ok(None);
    }
    let state = State::from_str(&text("status")).ok();
    // The names of kstatus are none of Argo CD's.
    let state = state.filter(|state| state.argo() == text("status"));
    Ok(Some(match state {
        Some(state) => Health::because(state, text("message")),
        None => Health::because(State::Unknown, INVALID_STATE),
    }))
}

/// What went wrong, without a stack trace.
fn problem(error: &mlua::Error) -> String {
    match error {
        mlua::Error::CallbackError { cause, .. } => problem(cause),
        mlua::Error::MemoryError(_) => "the script took too much memory".to_owned(),
        mlua::Error::RuntimeError(text) | mlua::Error::SyntaxError { message: text, .. } => text
            .split("\nstack traceback:")
            .next()
            .unwrap_or_default()
            .to_owned(),
        other => other.to_string(),
    }
}
