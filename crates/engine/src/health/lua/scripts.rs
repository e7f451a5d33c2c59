//! Which script is for which object.

use jiff::Timestamp;
use model::{Health, Value};

use super::super::object::Object;
use super::{Compiled, Error, Libraries};

/// A script and the kinds it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The group; `*` stands for any text in it: `*.crossplane.io`.
    pub group: String,
    /// The kind; `*` stands for any text in it.
    pub kind: String,
    /// The script.
    pub source: String,
    /// What it may call.
    pub libraries: Libraries,
}

/// Scripts that were read. The first layer that has one for an object tells; in a layer, those that name its kind come
/// before those with wildcards.
#[derive(Default)]
pub struct Scripts {
    layers: Vec<Vec<(Script, Compiled)>>,
}

impl Scripts {
    /// Reads scripts, which are the first layer.
    ///
    /// # Errors
    /// The first that is not Lua.
    pub fn new(scripts: Vec<Script>) -> Result<Self, Error> {
        Scripts::default().followed_by(scripts)
    }

    /// Adds a layer that is asked when those before it have nothing for an object: Argo CD's own scripts after those of the
    /// user.
    ///
    /// # Errors
    /// The first that is not Lua.
    pub fn followed_by(mut self, scripts: Vec<Script>) -> Result<Self, Error> {
        let layer: Result<Vec<_>, Error> = scripts
            .into_iter()
            .map(|script| match Compiled::new(&script.source, script.libraries) {
                Ok(compiled) => Ok((script, compiled)),
                Err(problem) => Err(Error {
                    group: script.group,
                    kind: script.kind,
                    problem,
                }),
            })
            .collect();
        self.layers.push(layer?);
        Ok(self)
    }

    /// What the script for an object says of it; `None` where there is none, `Some(None)` where it says nothing.
    pub fn assess(&self, object: &Value, now: Timestamp) -> Option<Option<Health>> {
        let (group, kind) = Object(object).group_kind();
        let script = self.layers.iter().find_map(|layer| {
            let is_exact = |(script, _): &&(Script, Compiled)| script.group == group && script.kind == kind;
            let fits =
                |(script, _): &&(Script, Compiled)| glob(&script.group, group) && glob(&script.kind, kind);
            layer.iter().find(is_exact).or_else(|| layer.iter().find(fits))
        });
        script.map(|(_, compiled)| compiled.assess(object, now))
    }
}

/// Whether a text fits a pattern in which `*` is any text.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => text.strip_prefix(head).is_some_and(|text| {
            let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.any(|at| glob(rest, &text[at..]))
        }),
    }
}

impl std::fmt::Debug for Scripts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kinds = |layer: &Vec<(Script, Compiled)>| -> Vec<String> {
            layer
                .iter()
                .map(|(script, _)| format!("{}/{}", script.group, script.kind))
                .collect()
        };
        out.debug_list().entries(self.layers.iter().map(kinds)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("*.crossplane.io", "aws.crossplane.io", true),
            ("*.crossplane.io", "crossplane.io", false),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcd", false),
            ("apps", "apps", true),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
        }
    }
}
