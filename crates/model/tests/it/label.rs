//! The full texts are compared in `selector`; here is where the borders are.

use model::label::{key_problems, subdomain_problems, value_problems};

#[test]
fn keys_have_an_optional_prefix_and_a_name() {
    let longest = format!("{}/{}", "a".repeat(253), "N".repeat(63));
    for key in ["a", "A-b_c.d", "example.com/app", "1", &longest] {
        assert_eq!(key_problems(key), [""; 0], "{key}");
    }
    for key in [
        "",
        "/a",
        "a/",
        "a/b/c",
        "-a",
        "a.",
        "Example.com/a",
        "a b",
        "é",
        "a_b/c",
    ] {
        assert_ne!(key_problems(key), [""; 0], "{key}");
    }
    assert_eq!(
        key_problems(&"x".repeat(64)),
        ["name part must be no more than 63 bytes"]
    );
    assert_eq!(
        key_problems(&format!("{}/b", "a".repeat(254))),
        ["prefix part must be no more than 253 bytes"]
    );
    assert_eq!(key_problems("/").len(), 3);
}

#[test]
fn values_may_be_empty() {
    for value in ["", "a", "A-b_c.d", &"x".repeat(63)] {
        assert_eq!(value_problems(value), [""; 0], "{value}");
    }
    for value in ["-", "a-", ".a", "a/b", " ", "a b"] {
        assert_eq!(value_problems(value).len(), 1, "{value}");
    }
    assert_eq!(value_problems(&"x".repeat(64)), ["must be no more than 63 bytes"]);
}

#[test]
fn subdomains_are_lower_case_labels_with_dots() {
    for name in ["a", "a-b.c1", "0"] {
        assert_eq!(subdomain_problems(name), [""; 0], "{name}");
    }
    for name in ["", "A", "a..b", ".a", "a.", "a-.b", "a_b"] {
        assert_eq!(subdomain_problems(name).len(), 1, "{name}");
    }
}
