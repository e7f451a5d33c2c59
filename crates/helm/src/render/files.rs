//! `.Files`: what lies in a chart beside its templates.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use gotemplate::{ArcStr, Call, Error, Function, Kind, Map, Object, Type, Value};

use super::functions::yaml;
use super::glob::Glob;

/// Files by their paths.
#[derive(Clone, Default)]
pub(super) struct Files(Arc<BTreeMap<ArcStr, Bytes>>);

impl Files {
    pub(super) fn new(files: impl IntoIterator<Item = (ArcStr, Bytes)>) -> Files {
        Files(Arc::new(files.into_iter().collect()))
    }

    /// The last parts of the paths, with the contents as text.
    fn by_name(&self, text: impl Fn(&Bytes) -> Value) -> Map {
        let name = |path: &ArcStr| path.rsplit('/').next().map(ArcStr::from).unwrap_or_default();
        self.0
            .iter()
            .map(|(path, content)| (name(path), text(content)))
            .collect()
    }
}

impl Object for Files {
    fn type_name(&self) -> &'static str {
        "engine.files"
    }

    fn kind(&self) -> Kind {
        Kind::Map
    }

    fn method(&self, name: &str) -> Option<&Function> {
        METHODS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, function)| function)
    }

    fn field(&self, name: &str) -> Option<Value> {
        self.0
            .get(name)
            .map(|content| Value::Bytes(content.as_ref().into()))
    }

    fn fields(&self) -> Vec<(ArcStr, Value)> {
        let entry =
            |(path, content): (&ArcStr, &Bytes)| (path.clone(), Value::Bytes(content.as_ref().into()));
        self.0.iter().map(entry).collect()
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    fn weight(&self) -> usize {
        self.0.values().map(Bytes::len).sum()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

static METHODS: LazyLock<[(&str, Function); 6]> = LazyLock::new(|| {
    [
        ("Get", Function::new(&[Type::String], get)),
        ("GetBytes", Function::new(&[Type::String], get_bytes)),
        ("Glob", Function::new(&[Type::String], glob)),
        ("AsConfig", Function::new(&[], as_config)),
        ("AsSecrets", Function::new(&[], as_secrets)),
        ("Lines", Function::new(&[Type::String], lines)),
    ]
});

fn receiver(call: &Call<'_, '_>) -> Files {
    let files = call.receiver().and_then(|value| value.downcast::<Files>());
    files.cloned().unwrap_or_default()
}

fn content(call: &mut Call<'_, '_>) -> Result<Bytes, Error> {
    let found = receiver(call)
        .0
        .get(call.str(0).as_ref())
        .cloned()
        .unwrap_or_default();
    call.session.charge(found.len())?;
    Ok(found)
}

fn get(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    Ok(Value::string_of_bytes(content(call)?))
}

fn get_bytes(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    Ok(Value::Bytes(content(call)?.as_ref().into()))
}

/// The longest pattern, in bytes.
const LONGEST_PATTERN: usize = 1 << 10;

/// The steps that compiling a pattern counts.
const COMPILING: u64 = 1_000;

/// What matching a byte of a path counts, in bytes that are gone through.
const MATCHING: usize = 16;

fn glob(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let files = receiver(call);
    let pattern = call.str(0);
    if pattern.len() > LONGEST_PATTERN {
        return Err(Error::limit(format!(
            "the pattern has {} bytes, and {LONGEST_PATTERN} are read at most: use a shorter one",
            pattern.len()
        )));
    }
    let paths: usize = files.0.keys().map(|path| path.len()).sum();
    call.session.price(COMPILING + pattern.len() as u64)?;
    call.session.work(paths.saturating_mul(MATCHING))?;
    let Some(glob) = Glob::new(&pattern) else {
        return Ok(Value::object(files));
    };
    let matching = files.0.iter().filter(|(path, _)| glob.matches(path));
    let matching = matching.map(|(path, content)| (path.clone(), content.clone()));
    Ok(Value::object(Files::new(matching)))
}

fn as_config(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    written(call, |content| Value::string_of_bytes(content))
}

fn as_secrets(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    written(call, |content| Value::str(STANDARD.encode(content)))
}

fn written(call: &mut Call<'_, '_>, text: impl Fn(&Bytes) -> Value) -> Result<Value, Error> {
    let files = receiver(call);
    call.session.charge(files.weight() * 2)?;
    let map = Value::Map(files.by_name(text));
    let text = yaml::written(call, &map)?.map(yaml::without_last_break);
    yaml::made(call, text.unwrap_or_default())
}

fn lines(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let content = content(call)?;
    let text = String::from_utf8_lossy(&content);
    if text.is_empty() {
        return Ok(Value::strings(Vec::<String>::new()));
    }
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let count = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    call.session.charge(gotemplate::List::size(count) + count * 32)?;
    Ok(Value::strings(text.split('\n')))
}
