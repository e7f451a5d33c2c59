//! Fields that a write to a resource or subresource cannot change, because the server puts them back.

use crate::fieldset::{FieldSet, Path, PathElement};

/// What the server puts back to what it was. Nobody becomes the owner of such a field through that write.
#[derive(Clone, Debug, Default)]
pub enum Reset {
    /// Nothing.
    #[default]
    Nothing,
    /// These fields and all that is below them.
    Fields(FieldSet),
    /// All but what these paths lead to.
    AllBut(Vec<Vec<Step>>),
}

/// One step of a path in [`Reset::AllBut`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// This element.
    Is(PathElement),
    /// Any element.
    Any,
}

impl Reset {
    /// These fields, each given by the names on the way to it.
    pub fn fields(paths: &[&[&str]]) -> Self {
        Reset::Fields(paths.iter().map(|path| Path::fields(path)).collect())
    }

    /// Takes out of `set` what is reset.
    pub(super) fn filter(&self, set: &mut FieldSet) {
        match self {
            Reset::Nothing => {}
            Reset::Fields(fields) => drop(set.subtract_recursively(fields)),
            Reset::AllBut(paths) => {
                let paths: Vec<_> = paths.iter().map(Vec::as_slice).collect();
                keep(set, &paths);
            }
        }
    }
}

/// Keeps in `set` what is on one of `paths` or below its end.
fn keep(set: &mut FieldSet, paths: &[&[Step]]) {
    set.nodes.retain_mut(|node| {
        let fits = |path: &&&[Step]| match path.first() {
            Some(Step::Is(element)) => *element == node.element,
            Some(Step::Any) => true,
            None => false,
        };
        let rest: Vec<_> = paths.iter().filter(fits).map(|path| &path[1..]).collect();
        if rest.is_empty() {
            return false;
        }
        if !rest.iter().any(|path| path.is_empty()) {
            keep(&mut node.below, &rest);
        }
        node.member || !node.below.is_empty()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> FieldSet {
        let paths = [
            &["metadata", "labels", "a"][..],
            &["spec", "x"],
            &["status"],
            &["status", "y"],
        ];
        paths.iter().map(|path| Path::fields(path)).collect()
    }

    #[test]
    fn fields_go_with_all_below_them() {
        let mut set = set();
        Reset::fields(&[&["status"], &["metadata", "labels"]]).filter(&mut set);
        assert_eq!(set.to_json(), r#"{"f:spec":{"f:x":{}}}"#);
    }

    #[test]
    fn all_but_one_field_goes() {
        let mut set = set();
        Reset::AllBut(vec![vec![Step::Is(PathElement::field("status"))]]).filter(&mut set);
        assert_eq!(set.to_json(), r#"{"f:status":{".":{},"f:y":{}}}"#);
    }

    #[test]
    fn a_step_may_be_any_element() {
        let mut set = set();
        Reset::AllBut(vec![vec![Step::Any, Step::Is(PathElement::field("x"))]]).filter(&mut set);
        assert_eq!(set.to_json(), r#"{"f:spec":{"f:x":{}},"f:status":{}}"#);
    }
}
