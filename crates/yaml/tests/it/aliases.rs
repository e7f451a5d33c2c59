use model::{json, value};

fn read(text: &str) -> Result<String, String> {
    let value = yaml::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(json::to_string(&value))
}

#[test]
fn an_alias_is_a_copy_of_its_anchor() {
    assert_eq!(
        read("a: &x {b: [1, &y c]}\nd: *x\ne: [*y, *y]\n").unwrap(),
        r#"{"a":{"b":[1,"c"]},"d":{"b":[1,"c"]},"e":["c","c"]}"#
    );
}

#[test]
fn the_latest_anchor_of_a_name_counts() {
    assert_eq!(read("- &x 1\n- *x\n- &x 2\n- *x\n").unwrap(), "[1,1,2,2]");
}

#[test]
fn an_anchor_cannot_contain_itself_even_if_its_name_was_used_before() {
    assert_eq!(
        read("- &x 1\n- &x [*x]\n").unwrap_err(),
        "yaml: anchor 'x' value contains itself"
    );
}

#[test]
fn a_billion_laughs_fail_fast() {
    let mut text = String::from("a0: &a0 lol\n");
    for level in 1..30 {
        let previous = format!("*a{}, ", level - 1).repeat(10);
        text += &format!("a{level}: &a{level} [{previous}]\n");
    }
    assert_eq!(
        read(&text).unwrap_err(),
        "yaml: document contains excessive aliasing"
    );
}

#[test]
fn long_texts_cannot_be_multiplied_without_limit() {
    let text = format!("a: &x {}\nb: [{}]\n", "x".repeat(1 << 20), "*x, ".repeat(200));
    assert_eq!(
        read(&text).unwrap_err(),
        "yaml: document contains excessive aliasing"
    );
}

#[test]
fn anchors_around_anchors_cannot_be_kept_without_limit() {
    let opening: String = (0..200).map(|number| format!("&a{number} [")).collect();
    let text = format!("{opening}{}{}", "x".repeat(1 << 20), "]".repeat(200));
    assert_eq!(
        read(&text).unwrap_err(),
        "yaml: document contains excessive aliasing"
    );
}

#[test]
fn many_small_aliases_are_fine() {
    let text = format!("a: &x {{b: 1}}\nc: [{}]\n", "*x, ".repeat(5000));
    let value = yaml::parse(text.as_bytes()).unwrap();
    assert_eq!(value.list_at(&["c"]).len(), 5000);
    assert_eq!(value.list_at(&["c"])[4999], value!({ "b": 1 }));
}

#[test]
fn aliases_cannot_nest_beyond_the_limit() {
    // The plain elements keep the share of the aliases small.
    let mut text = format!("- [{}]\n- &a0 [x]\n", "1, ".repeat(100_000));
    for level in 1..400 {
        text += &format!("- &a{level} [*a{}]\n", level - 1);
    }
    assert_eq!(
        read(&text).unwrap_err(),
        "yaml: line 257: exceeded max depth of 256"
    );
}
