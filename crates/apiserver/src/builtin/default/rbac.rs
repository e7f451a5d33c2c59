//! Who has which role.

use model::Map;

use super::Fields;

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn binding(object: &mut Map) {
    object.within("roleRef", |role| role.fill("apiGroup", GROUP));
    object.each("subjects", |subject| {
        if matches!(subject.text("kind"), "User" | "Group") {
            subject.default("apiGroup", GROUP);
        }
    });
}
