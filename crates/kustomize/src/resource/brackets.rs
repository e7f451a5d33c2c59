//! Objects that are written between brackets as a whole, as JSON is.
//!
//! go-yaml puts quotes around two scalars between brackets that it writes without any elsewhere: a time with colons, so
//! that it is a string as it stands, and nothing at all, which is an empty string then. What is read there is known to be
//! so (`yaml::node::read`); this is about what the build puts into such an object. Nothing is folded there either.

use yaml::node::{Kind, Meaning, Node, Scalar};

/// Makes of all scalars of an object between brackets what they are there.
pub(super) fn quote(node: &mut Node) {
    match node {
        Node::Map(map) => map.iter_mut().for_each(|(_, value)| quote(value)),
        Node::List(items) => items.iter_mut().for_each(quote),
        Node::Scalar(scalar) => {
            scalar.folded = false;
            match scalar.kind {
                // A tag is written, too, and says what it is.
                _ if scalar.tagged => {}
                Kind::Timestamp if scalar.text.contains(':') => scalar.kind = Kind::Plain,
                Kind::Null if scalar.text.is_empty() => scalar.kind = Kind::Void,
                _ => {}
            }
        }
    }
}

/// An element of a list of a kind of its own (`ConfigMapList`), which kustomize writes as JSON and reads again.
pub(super) fn as_json(node: Node) -> Result<Node, String> {
    Ok(match node {
        Node::Map(mut map) => {
            for (_, value) in map.iter_mut() {
                *value = as_json(std::mem::replace(value, Node::null()))?;
            }
            Node::Map(map)
        }
        Node::List(items) => Node::List(items.into_iter().map(as_json).collect::<Result<_, _>>()?),
        Node::Scalar(scalar) => json_scalar(scalar)?,
    })
}

fn json_scalar(scalar: Scalar) -> Result<Node, String> {
    // It is decoded without being written, and so how it would be written does not matter.
    let kind = match scalar.kind {
        Kind::Void => Kind::Null,
        Kind::Plain if Kind::of(&scalar.text) == Kind::Timestamp => Kind::Timestamp,
        kind => kind,
    };
    let scalar = Scalar {
        kind,
        folded: false,
        ..scalar
    };
    Ok(match scalar.meaning()? {
        Meaning::Null => Node::null(),
        Meaning::Bool(flag) => Node::Scalar(Scalar::new(flag.to_string(), Kind::Bool)),
        Meaning::Int(number) => Node::Scalar(Scalar::new(number.to_string(), Kind::Int)),
        Meaning::Uint(number) => Node::Scalar(Scalar::new(number.to_string(), Kind::Int)),
        Meaning::Float(number) => {
            if let Some(problem) = yaml::go::unsupported(number) {
                return Err(problem.to_owned());
            }
            let text = model::json::to_string(&model::Value::Float(number));
            let kind = Kind::of(&text);
            Node::Scalar(Scalar::new(text, kind))
        }
        Meaning::Str(text) => Node::str(text.as_str()),
        Meaning::Text => Node::str(scalar.text),
    })
}
