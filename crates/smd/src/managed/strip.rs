//! Fields that nobody owns.

use crate::fieldset::{FieldSet, Node, PathElement};

/// Takes out of `set` what says which object it is and what the server alone writes.
pub(super) fn strip(set: &mut FieldSet) {
    set.nodes.retain_mut(|node| {
        match field_name(node) {
            "apiVersion" | "kind" => node.member = false,
            "metadata" => {
                node.member = false;
                node.below.nodes.retain_mut(|field| {
                    field.member &= !is_of_the_server(field_name(field));
                    is_left(field)
                });
            }
            _ => {}
        }
        is_left(node)
    });
}

fn is_of_the_server(name: &str) -> bool {
    matches!(
        name,
        "name"
            | "namespace"
            | "creationTimestamp"
            | "selfLink"
            | "uid"
            | "clusterName"
            | "generation"
            | "managedFields"
            | "resourceVersion"
    )
}

fn field_name(node: &Node) -> &str {
    match &node.element {
        PathElement::Field(name) => name,
        _ => "",
    }
}

fn is_left(node: &Node) -> bool {
    node.member || !node.below.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Path;

    #[test]
    fn only_what_users_write_is_left() {
        let paths = [
            &["apiVersion"][..],
            &["kind"],
            &["metadata"],
            &["metadata", "name"],
            &["metadata", "uid"],
            &["metadata", "labels"],
            &["metadata", "labels", "name"],
            &["spec", "name"],
        ];
        let mut set: FieldSet = paths.iter().map(|path| Path::fields(path)).collect();
        strip(&mut set);
        assert_eq!(
            set.to_json(),
            r#"{"f:metadata":{"f:labels":{".":{},"f:name":{}}},"f:spec":{"f:name":{}}}"#
        );
    }
}
