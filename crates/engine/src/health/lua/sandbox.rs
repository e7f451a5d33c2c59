//! A Lua state in which a script can do no harm: no files, no programs, no clock, and an end to its time and memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use mlua::{HookTriggers, Lua, LuaOptions, StdLib, VmState};

use super::{Libraries, time};

/// How many instructions a script may run: some tenths of a second. Scripts that people write run some thousands.
const INSTRUCTIONS: u64 = 5_000_000;
/// How often is looked.
const STEP: u32 = 1_000;
/// How much memory a script may use, the object among it.
const MEMORY: usize = 64 << 20;

/// What the basic library has that reads files, runs other code, or escapes the count of instructions.
const REMOVED: [&str; 5] = ["dofile", "loadfile", "load", "loadstring", "collectgarbage"];

/// Protected calls catch errors, and must not catch that the time is over. `print` has nobody to print to.
///
/// Argo CD's Lua is 5.1 with the `goto` of 5.2. Ours is 5.2 with what 5.1 had and 5.2 has no longer.
const PRELUDE: &str = r#"
local pcall, xpcall, error, spent = pcall, xpcall, error, spent
local function pass(...)
  if spent() then error("the script took too long", 0) end
  return ...
end
_G.pcall = function(...) return pass(pcall(...)) end
_G.xpcall = function(...) return pass(xpcall(...)) end
_G.print = function() end
_G.spent = nil
_G.unpack = table.unpack
table.getn = function(t) return #t end
table.foreach = function(t, f) for k, v in pairs(t) do local r = f(k, v) if r ~= nil then return r end end end
table.foreachi = function(t, f) for k, v in ipairs(t) do local r = f(k, v) if r ~= nil then return r end end end
"#;

/// A state with these libraries, in which it is `now`.
pub(super) fn open(libraries: Libraries, now: Timestamp) -> mlua::Result<Lua> {
    let standard = match libraries {
        Libraries::Basic => StdLib::TABLE,
        Libraries::Open => StdLib::TABLE | StdLib::STRING | StdLib::MATH,
    };
    let lua = Lua::new_with(standard, LuaOptions::new())?;
    lua.set_memory_limit(MEMORY)?;
    let globals = lua.globals();
    for name in REMOVED {
        globals.raw_remove(name)?;
    }
    if libraries == Libraries::Open {
        globals.raw_get::<mlua::Table>("string")?.raw_remove("dump")?;
        // Chance would make health depend on nothing in the object.
        let math = globals.raw_get::<mlua::Table>("math")?;
        math.raw_remove("random")?;
        math.raw_remove("randomseed")?;
    }
    let os = time::library(&lua, now)?;
    globals.raw_set("os", os.clone())?;
    let require = lua.create_function(move |_, name: String| match name.as_str() {
        "os" => Ok(os.clone()),
        _ => Err(mlua::Error::runtime(format!("module '{name}' not found"))),
    })?;
    globals.raw_set("require", require)?;
    limit(&lua)?;
    Ok(lua)
}

/// Ends what runs in the state after so many instructions.
fn limit(lua: &Lua) -> mlua::Result<()> {
    let run = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&run);
    let spent = lua.create_function(move |_, ()| Ok(run.load(Ordering::Relaxed) >= INSTRUCTIONS))?;
    lua.globals().raw_set("spent", spent)?;
    lua.load(PRELUDE).exec()?;
    lua.set_hook(HookTriggers::new().every_nth_instruction(STEP), move |_, _| {
        let run = counted.fetch_add(STEP.into(), Ordering::Relaxed);
        if run >= INSTRUCTIONS {
            return Err(mlua::Error::runtime("the script took too long"));
        }
        Ok(VmState::Continue)
    })
}
