//! What cannot be printed: scalars that do not fit their tags (`!!int word`), numbers that JSON has no form for, control characters, and
//! keys that would be read as merge keys. kustomize finds the first of them when it prints; here all are found before anything is.

use std::fmt;

use yaml::Step;
use yaml::node::{Kind, Meaning, Node, Scalar};

/// Something that cannot be printed: the way to it, and why.
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
    if !is_writable(object, Place::Object) {
        collect(object, Place::Object, &mut Vec::new(), &mut found);
    }
    found
}

/// Where in an object something is: the values of annotations are texts, whatever they look like.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Object,
    Metadata,
    Annotations,
    Annotation,
    Elsewhere,
}

impl Place {
    fn below(self, key: &str) -> Place {
        match (self, key) {
            (Place::Object, "metadata") => Place::Metadata,
            (Place::Metadata, "annotations") => Place::Annotations,
            (Place::Annotations, _) => Place::Annotation,
            _ => Place::Elsewhere,
        }
    }
}

/// Whether there are none: nearly always, and so nothing is kept on the way.
fn is_writable(node: &Node, place: Place) -> bool {
    match node {
        Node::Scalar(scalar) => problem(scalar, place).is_none(),
        Node::List(items) => items.iter().all(|item| is_writable(item, Place::Elsewhere)),
        Node::Map(map) => map
            .iter()
            .all(|(key, value)| problem_of_key(key).is_none() && is_writable(value, place.below(key))),
    }
}

fn collect(node: &Node, place: Place, path: &mut Vec<Step>, found: &mut Vec<Unwritable>) {
    let told = |path: &[Step], message| Unwritable {
        path: path.to_vec(),
        message,
    };
    match node {
        Node::Scalar(scalar) => found.extend(problem(scalar, place).map(|message| told(path, message))),
        Node::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Item(index));
                collect(item, Place::Elsewhere, path, found);
                path.pop();
            }
        }
        Node::Map(map) => {
            for (key, value) in map.iter() {
                path.push(Step::Key(key.to_owned()));
                found.extend(problem_of_key(key).map(|message| told(path, message)));
                collect(value, place.below(key), path, found);
                path.pop();
            }
        }
    }
}

/// go-yaml does not read it again, not even where it has written it with an escape.
const DELETE: u8 = 0x7f;
const CONTROL: &str = "yaml: control characters are not allowed";

/// Why a key cannot be printed.
fn problem_of_key(key: &str) -> Option<String> {
    if key == "<<" {
        return Some(
            "yaml: map merge requires map or sequence of maps as the value: no field can have this name"
                .to_owned(),
        );
    }
    key.as_bytes().contains(&DELETE).then(|| CONTROL.to_owned())
}

/// Why a scalar cannot be printed. The text is not told: it may be a secret.
fn problem(scalar: &Scalar, place: Place) -> Option<String> {
    if scalar.text.as_bytes().contains(&DELETE) {
        return Some(CONTROL.to_owned());
    }
    // Digits that fit into 64 bits are looked at no further: they are most of what is no string.
    let is_small = || scalar.text.len() <= 18 && scalar.text.bytes().all(|byte| byte.is_ascii_digit());
    match scalar.kind {
        Kind::Plain | Kind::Quoted | Kind::Tagged | Kind::Void => return None,
        Kind::Int if !scalar.text.is_empty() && is_small() => return None,
        _ => {}
    }
    match scalar.meaning() {
        Ok(Meaning::Float(_)) if place == Place::Annotation => None,
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
    fn annotations_are_texts() {
        let object = "metadata: {annotations: {a: .inf}, labels: {a: .inf}}\nannotations: {a: .inf}\n";
        assert_eq!(
            told(object),
            [
                "metadata.labels.a: json: unsupported value: +Inf",
                "annotations.a: json: unsupported value: +Inf",
            ]
        );
    }

    #[test]
    fn control_characters_and_merge_keys_are_found() {
        let mut read = yaml::node::read("a: \"b\\x7f\"\n\"c\\x7f\": d\n")
            .unwrap()
            .unwrap();
        let Node::Map(map) = &mut read.node else {
            unreachable!()
        };
        map.insert("<<", Node::Scalar(Scalar::new("x", Kind::Plain)));
        let found: Vec<String> = all(&read.node).iter().map(Unwritable::to_string).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(
            found[0].ends_with(CONTROL) && found[1].ends_with(CONTROL),
            "{found:?}"
        );
        assert!(found[2].starts_with("<<: yaml: map merge"), "{found:?}");
    }

    #[test]
    fn what_can_be_printed_is_fine() {
        let fine = "a: !!int 12\nb: !!str word\nc: !!float 1\nd: 2001-01-01\ne: ~\nf: !!binary aGk=\ng: 1_000\nh: yes\ni: true\n";
        assert_eq!(told(fine), [""; 0]);
    }
}
