//! Scalars that cannot be printed: those that do not fit their tags (`!!int word`), and numbers that JSON has no form for.
//! kustomize finds the first of them when it prints; here all are found before anything is.

use std::fmt;

use yaml::Step;
use yaml::node::{Kind, Meaning, Node, Scalar};

/// A scalar that cannot be printed: the way to it, and why.
#[derive(Debug, PartialEq)]
pub(crate) struct Unwritable {
    pub(crate) path: Vec<Step>,
    message: String,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", yaml::shown(&self.path), self.message)
    }
}

/// All of them in an object, in its order.
pub(crate) fn all(object: &Node) -> Vec<Unwritable> {
    let mut found = Vec::new();
    if !is_writable(object) {
        collect(object, &mut Vec::new(), &mut found);
    }
    found
}

/// Whether there are none: nearly always, and so nothing is kept on the way.
fn is_writable(node: &Node) -> bool {
    match node {
        Node::Scalar(scalar) => problem(scalar).is_none(),
        Node::List(items) => items.iter().all(is_writable),
        Node::Map(map) => map.iter().all(|(_, value)| is_writable(value)),
    }
}

fn collect(node: &Node, path: &mut Vec<Step>, found: &mut Vec<Unwritable>) {
    match node {
        Node::Scalar(scalar) => found.extend(problem(scalar).map(|message| Unwritable {
            path: path.clone(),
            message,
        })),
        Node::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Item(index));
                collect(item, path, found);
                path.pop();
            }
        }
        Node::Map(map) => {
            for (key, value) in map.iter() {
                path.push(Step::Key(key.to_owned()));
                collect(value, path, found);
                path.pop();
            }
        }
    }
}

/// Why a scalar cannot be printed. The text is not told: it may be a secret.
fn problem(scalar: &Scalar) -> Option<String> {
    // Digits that fit into 64 bits are looked at no further: they are most of what is no string.
    let is_small = || scalar.text.len() <= 18 && scalar.text.bytes().all(|byte| byte.is_ascii_digit());
    match scalar.kind {
        Kind::Plain | Kind::Quoted | Kind::Tagged | Kind::Void | Kind::Folded => return None,
        Kind::Int if !scalar.text.is_empty() && is_small() => return None,
        _ => {}
    }
    match scalar.meaning() {
        Ok(Meaning::Float(number)) => yaml::go::unsupported(number).map(str::to_owned),
        Ok(_) => None,
        Err(problem) => Some(problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let read = yaml::node::read(text)
            .expect("it is YAML")
            .expect("it has a document");
        let found = all(&read.node).into_iter();
        found.map(|found| found.to_string()).collect()
    }

    #[test]
    fn all_scalars_that_do_not_fit_their_tags_are_found_and_no_text_is_told() {
        assert_eq!(
            told("a: !!int s3cret\nb:\n- 1\n- {c.d: !!bool s3cret}\ne: !!binary s3cret!\n"),
            [
                "a: cannot decode !!str as a !!int",
                "b[1][\"c.d\"]: cannot decode !!str as a !!bool",
                "e: !!binary value contains invalid base64 data",
            ]
        );
    }

    #[test]
    fn numbers_without_a_form_in_json_are_found() {
        assert_eq!(
            told("a: [.inf, -.Inf, .nan, '.inf', 1.5, 0x1f, 08, 18446744073709551615]\n"),
            [
                "a[0]: json: unsupported value: +Inf",
                "a[1]: json: unsupported value: -Inf",
                "a[2]: json: unsupported value: NaN",
            ]
        );
    }

    #[test]
    fn what_can_be_printed_is_fine() {
        let fine = "a: !!int 12\nb: !!str word\nc: !!float 1\nd: 2001-01-01\ne: ~\nf: !!binary aGk=\ng: 1_000\nh: yes\ni: true\n";
        assert_eq!(told(fine), [""; 0]);
    }
}
