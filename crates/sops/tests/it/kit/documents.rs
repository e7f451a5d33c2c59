//! Random documents in every format.

use std::fmt::Write as _;

use fastrand::Rng;

/// A document that the real program may or may not take.
pub(crate) fn random(format: &str, random: &mut Rng) -> Vec<u8> {
    match format {
        "yaml" => yaml(random).into_bytes(),
        "json" => format!("{{{}}}", json_entries(random, 0)).into_bytes(),
        "dotenv" => dotenv(random).into_bytes(),
        "ini" => ini(random).into_bytes(),
        _ => (0..random.usize(..200)).map(|_| random.u8(..)).collect(),
    }
}

const WORDS: [&str; 47] = [
    "a",
    "b",
    "data",
    "x y",
    "true",
    "yes",
    "null",
    "~",
    "1",
    "-7",
    "0x1f",
    "1.5",
    "1e3",
    "1.0",
    "007",
    "12:30",
    "2020-01-02",
    "2020-01-02T03:04:05.5Z",
    "- a",
    "a: b",
    "a #b",
    "#",
    "'q'",
    "\"d\"",
    "ü",
    "日本",
    "tab\there",
    " lead",
    "trail ",
    "",
    "{}",
    "[x]",
    "&a",
    "*a",
    "!t",
    "|",
    ">",
    "%",
    "@",
    "`",
    "a,b",
    "?",
    "<b>&",
    "back\\slash",
    "=x",
    "0o17",
    "<<",
];
const KEYS: [&str; 12] = [
    "a",
    "b",
    "c",
    "data",
    "dd_unencrypted",
    "xa",
    "yes",
    "1k",
    "k.k",
    "long",
    "ü",
    "zb",
];

fn word(random: &mut Rng) -> &'static str {
    WORDS[random.usize(..WORDS.len())]
}

fn keys(random: &mut Rng, most: usize) -> Vec<&'static str> {
    let mut keys = KEYS;
    random.shuffle(&mut keys);
    keys[..random.usize(1..=most)].to_vec()
}

fn text(random: &mut Rng) -> String {
    let mut text = word(random).to_owned();
    for _ in 0..random.usize(..4) {
        text.push_str([" ", "\n", "", "\n\n", " \n", "\n "][random.usize(..6)]);
        text.push_str(word(random));
    }
    if random.u8(..8) == 0 {
        text.push('\n');
    }
    if random.u8(..20) == 0 {
        text.push_str(&"long text ".repeat(20));
    }
    text
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn scalar(random: &mut Rng) -> String {
    match random.u8(..12) {
        0 => "null".to_owned(),
        1 => random.bool().to_string(),
        2 => random.i64(..).to_string(),
        3 => random.i32(-5..1000).to_string(),
        4 => format!("{:?}", random.f64() * 1e3),
        5 => format!("{:e}", random.f64() * 1e30),
        6 => format!("{}.0", random.u16(..)),
        _ => quoted(&text(random)),
    }
}

fn json_entries(random: &mut Rng, depth: usize) -> String {
    let entries: Vec<String> = keys(random, 5)
        .into_iter()
        .map(|key| format!("{}: {}", quoted(key), json_value(random, depth)))
        .collect();
    entries.join(", ")
}

fn json_value(random: &mut Rng, depth: usize) -> String {
    match random.u8(..if depth < 3 { 6 } else { 3 }) {
        3 => format!("{{{}}}", json_entries(random, depth + 1)),
        4 => {
            let items: Vec<String> = (0..random.usize(..4))
                .map(|_| json_value(random, depth + 1))
                .collect();
            format!("[{}]", items.join(","))
        }
        5 if random.bool() => "{}".to_owned(),
        _ => scalar(random),
    }
}

fn dotenv(random: &mut Rng) -> String {
    let mut out = String::new();
    for key in keys(random, 8) {
        match random.u8(..6) {
            0 => out.push('\n'),
            1 => writeln!(out, "#{}", word(random)).unwrap(),
            _ => {}
        }
        writeln!(out, "{key}={}", text(random).replace('\n', "\\n")).unwrap();
    }
    out
}

fn ini(random: &mut Rng) -> String {
    let mut out = String::new();
    for section in ["", "a", "data", "c"].into_iter().take(random.usize(1..=4)) {
        if random.u8(..4) == 0 {
            writeln!(out, "{} {}", [";", "#"][random.usize(..2)], word(random)).unwrap();
        }
        if !section.is_empty() {
            writeln!(out, "[{section}]").unwrap();
        }
        for key in keys(random, 5) {
            if random.u8(..4) == 0 {
                writeln!(out, "; {}", word(random)).unwrap();
            }
            let text = text(random);
            let value = match random.u8(..4) {
                0 => format!("\"\"\"{text}\"\"\""),
                1 => format!("`{}`", text.replace(['\n', '`'], "")),
                2 => format!("\"{}\"", text.replace('\n', " ")),
                _ => text.replace('\n', " "),
            };
            writeln!(out, "{key} = {value}").unwrap();
        }
        out.push('\n');
    }
    out
}

fn yaml(random: &mut Rng) -> String {
    let mut out = String::new();
    for index in 0..if random.u8(..4) == 0 { 2 } else { 1 } {
        if index > 0 {
            out.push_str("---\n");
        }
        yaml_map(random, 0, 0, &mut out);
        comment(random, 0, &mut out);
    }
    out
}

fn comment(random: &mut Rng, indent: usize, out: &mut String) {
    match random.u8(..10) {
        0 => writeln!(out, "{:indent$}# {}", "", word(random)).unwrap(),
        1 => writeln!(out, "{:indent$}#{}\n{:indent$}# two", "", word(random), "").unwrap(),
        2 => out.push('\n'),
        3 => writeln!(out, "\n{:indent$}# {}\n", "", word(random)).unwrap(),
        _ => {}
    }
}

fn yaml_map(random: &mut Rng, indent: usize, depth: usize, out: &mut String) {
    for key in keys(random, 5) {
        comment(random, indent, out);
        write!(out, "{:indent$}{}:", "", quoted(key)).unwrap();
        yaml_value(random, indent + 4, depth, out);
    }
    if depth < 3 && random.u8(..8) == 0 {
        writeln!(out, "{:indent$}<<:", "").unwrap();
        yaml_map(random, indent + 4, depth + 1, out);
    }
    comment(random, indent, out);
}

fn yaml_value(random: &mut Rng, indent: usize, depth: usize, out: &mut String) {
    match random.u8(..if depth < 3 { 8 } else { 5 }) {
        5 | 6 => {
            out.push('\n');
            yaml_map(random, indent, depth + 1, out);
        }
        7 => {
            out.push('\n');
            for _ in 0..random.usize(1..4) {
                comment(random, indent, out);
                write!(out, "{:indent$}-", "").unwrap();
                if random.bool() && depth < 2 {
                    let mut inner = String::new();
                    yaml_map(random, indent + 2, depth + 1, &mut inner);
                    // The first key stands behind the dash, if no comment is in the way.
                    match inner.trim_start().starts_with('#') || inner.starts_with('\n') {
                        true => write!(out, " {}", scalar(random)).unwrap(),
                        false => out.push_str(&inner[indent + 1..]),
                    }
                    if !out.ends_with('\n') {
                        out.push('\n');
                    }
                } else {
                    yaml_value(random, indent + 2, 9, out);
                }
            }
        }
        0 => {
            out.push_str(" |-\n");
            for _ in 0..random.usize(1..4) {
                writeln!(out, "{:indent$}{}", "", word(random).trim_start()).unwrap();
            }
        }
        1 if random.bool() => writeln!(out, " {} # {}", scalar(random), word(random)).unwrap(),
        _ => writeln!(out, " {}", scalar(random)).unwrap(),
    }
}
