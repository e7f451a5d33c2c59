//! Arbitrary trees, kustomizations, documents and texts: no panic, no hang, nothing read from outside of the root.
//!
//! `cargo test` tries a few hundred; `SLUICE_FUZZ_CASES=100000 cargo test -p kustomize --test it fuzz::` as many as one likes.
//! The cases follow from their number alone, so that a failure can be had again: see [`cases`].

mod cases;
mod dice;
mod kustomization;
mod object;
mod shape;
mod text;
mod tree;
mod words;

use dice::Dice;
use kustomize::substitute::Variables;
use kustomize::{LoadRestrictor, Options, Release, Reorder, build};
use tree::{Elsewhere, Watched};
use yaml::node;

fn a_tree(dice: &mut Dice) -> bool {
    dice.tame = dice.one_in(2);
    let restrictor = dice.pick(&[LoadRestrictor::RootOnly, LoadRestrictor::None]);
    let elsewhere = Elsewhere(dice.below(1 << 20) as u64);
    let options = Options {
        load_restrictor: restrictor,
        reorder: dice.pick(&[Reorder::Legacy, Reorder::None]),
        release: dice.pick(&[Release::V5_5, Release::V5_8]),
        fetcher: dice.one_in(2).then_some(&elsewhere as _),
        helm: (dice.tame || dice.one_in(2)).then_some(&elsewhere as _),
        ..Options::default()
    };
    let root = match dice.below(20) {
        0 => dice.pick(&[
            "..",
            "/",
            "../r",
            "r/../../r",
            "",
            "nowhere",
            "r/a.yaml",
            "/r",
            "r//b",
            "b\0",
        ]),
        _ => "r",
    };
    let tree = Watched::new(tree::files(dice), restrictor);
    let output = match build(&tree, root, &options) {
        Ok(output) => output,
        Err(errors) => {
            if dice.tame && std::env::var_os("SLUICE_FUZZ_TRACE").is_some() {
                eprintln!("{errors}");
            }
            return false;
        }
    };
    let printed = output.to_yaml();
    let documents = output.documents().filter(Result::is_ok).count();
    assert!(printed.is_err() || documents == output.len());
    printed.is_ok()
}

/// What is read and written is read again as the same.
fn a_document(dice: &mut Dice) -> bool {
    let text = match dice.below(4) {
        0 => text::hostile(dice),
        1 => text::damaged(object::file(dice), dice),
        2 => shape::odd(dice).print(dice).into_bytes(),
        _ => object::file(dice).into_bytes(),
    };
    let _ = yaml::parse_strict(&text);
    if let Ok(value) = yaml::parse(&text) {
        let written = yaml::write(&value);
        assert_eq!(yaml::parse(written.as_bytes()).as_ref(), Ok(&value), "{written}");
    }
    let Ok(text) = String::from_utf8(text) else {
        return false;
    };
    let _ = yaml::documents(&text).count();
    let Ok(Some(read)) = node::read(&text) else {
        return false;
    };
    let mut written = String::new();
    if yaml::go::write(&read.node, &mut written).is_err() {
        return false;
    }
    let again = node::read(&written)
        .expect("what was written can be read")
        .expect("it is not empty");
    let mut twice = String::new();
    yaml::go::write(&again.node, &mut twice).expect("it was written before");
    assert_eq!(written, twice);
    true
}

/// Substitutions that are nearly right, with values that look like some.
fn a_substitution(dice: &mut Dice) -> bool {
    const PARTS: [&str; 44] = [
        "$",
        "{",
        "}",
        "${",
        "$${",
        "${a}",
        "${b",
        "a",
        "b",
        ":",
        "-",
        ":-",
        ":=",
        "=",
        "+",
        ":+",
        "?",
        ":?",
        "#",
        "##",
        "%",
        "%%",
        "/",
        "//",
        "/#",
        "/%",
        "^",
        "^^",
        ",",
        ",,",
        "*",
        "[",
        "]",
        "[a-",
        "\\",
        "0",
        "-1",
        "99999999999999999999",
        "é",
        "猫",
        "\n",
        " ",
        "x",
        "${#a}",
    ];
    let mut variables = Variables::default();
    variables.strict = dice.one_in(2);
    for name in ["a", "b", "_", "A1"] {
        let value = match dice.below(3) {
            0 => dice.some(6, |dice| dice.pick(&PARTS)).concat(),
            1 => dice.letters(10),
            _ => "value-of-it".repeat(dice.below(4)),
        };
        variables.insert(name, &value);
    }
    let mut text = dice.some(14, |dice| dice.pick(&PARTS)).concat();
    if dice.one_in(20) {
        text = text.repeat(dice.below(300));
    }
    variables.substitute(&text).is_ok()
}

#[test]
fn arbitrary_trees_neither_panic_nor_hang_nor_are_left() {
    cases::run("trees", 300, a_tree);
}

#[test]
fn arbitrary_documents_are_read_written_and_read_again_as_the_same() {
    cases::run("documents", 400, a_document);
}

#[test]
fn arbitrary_substitutions_neither_panic_nor_hang() {
    cases::run("substitutions", 3000, a_substitution);
}
