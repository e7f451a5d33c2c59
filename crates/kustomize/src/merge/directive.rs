//! What `$patch` says.

use yaml::node::Node;

use super::element;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

const KEY: &str = "$patch";

fn meant(text: &str) -> Result<Directive, String> {
    match text {
        "merge" => Ok(Directive::Merge),
        "replace" => Ok(Directive::Replace),
        "delete" => Ok(Directive::Delete),
        other => Err(format!("unknown patch strategy '{other}'")),
    }
}

/// What a patch says about a map; the directive is taken out of it.
pub(super) fn of_map(patch: Option<&mut Node>) -> Result<Directive, String> {
    let Some(patch) = patch else {
        return Ok(Directive::Merge);
    };
    let Node::Map(map) = patch else {
        return Err("no implemented strategic merge patch strategy".to_owned());
    };
    let Some(found) = map.get(KEY) else {
        return Ok(Directive::Merge);
    };
    let directive = meant(found.raw_text())?;
    map.remove(KEY);
    Ok(directive)
}

/// What a patch says about a list: an element with nothing but the directive, which is taken out of it.
pub(super) fn of_list(patch: &mut Node) -> Result<Directive, String> {
    let Node::List(items) = patch else {
        return Ok(Directive::Merge);
    };
    let found = items.iter().find_map(|item| {
        let map = item.as_map()?;
        map.get(KEY).map(|value| (map.len(), value.raw_text().to_owned()))
    });
    let Some((1, text)) = found else {
        return Ok(Directive::Merge);
    };
    let directive = meant(&text)?;
    element::remove_matching(items, KEY, &text);
    Ok(directive)
}
