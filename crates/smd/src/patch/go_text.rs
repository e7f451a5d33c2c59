//! Values as Go's `fmt` prints them with `%v`: many of the server's messages quote objects that way.

use std::fmt::Write;

use model::Value;

/// The value as `%v` prints it: `map[image:nginx ports:[80 443]]`.
pub fn plain(value: &Value) -> String {
    let mut text = String::new();
    write_plain(value, &mut text);
    text
}

/// Several lists as `%v` prints a slice of them.
pub(crate) fn lists(lists: &[&[Value]]) -> String {
    let printed: Vec<String> = lists.iter().map(|list| list_text(list)).collect();
    format!("[{}]", printed.join(" "))
}

/// A list as `%v` prints it.
pub(crate) fn list_text(list: &[Value]) -> String {
    let mut text = String::new();
    write_list(list, &mut text);
    text
}

fn write_plain(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("<nil>"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) => write(text, format_args!("{number}")),
        Value::Float(number) => text.push_str(&float(*number)),
        Value::Str(string) => text.push_str(string),
        Value::Array(items) => write_list(items, text),
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            text.push_str("map[");
            for (at, (key, value)) in pairs.into_iter().enumerate() {
                if at > 0 {
                    text.push(' ');
                }
                text.push_str(key);
                text.push(':');
                write_plain(value, text);
            }
            text.push(']');
        }
    }
}

fn write_list(items: &[Value], text: &mut String) {
    text.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        write_plain(item, text);
    }
    text.push(']');
}

/// A float as `%v` prints it: the shortest text that reads back, with an exponent below 1e-4 and from 1e21 on.
pub fn float(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return match number {
            n if n.is_nan() => "NaN".into(),
            n if n.is_infinite() => if n > 0.0 { "+Inf" } else { "-Inf" }.into(),
            n if n.is_sign_negative() => "-0".into(),
            _ => "0".into(),
        };
    }
    let size = number.abs();
    if (1e-4..1e21).contains(&size) {
        return format!("{number}");
    }
    // Rust writes `1e30` and `1.5e-7`; Go gives the exponent a sign and at least two digits.
    let text = format!("{number:e}");
    let (mantissa, exponent) = text.split_once('e').expect("the format writes an exponent");
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

fn write(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments)
        .expect("writing to a string does not fail");
}

/// The name Go gives the type of a decoded JSON value.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        // `%s` of a nil type prints this.
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// The name Go's JSON reader gives the kind of a value in its errors.
pub(crate) fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::Str(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn maps_are_printed_in_the_order_of_their_keys() {
        let value = value!({ "b": [1, "x", null], "a": { "c": true } });
        assert_eq!(plain(&value), "map[a:map[c:true] b:[1 x <nil>]]");
    }

    #[test]
    fn floats_get_an_exponent_where_go_gives_them_one() {
        let cases = [
            (1.5, "1.5"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e-7, "1.5e-07"),
            (0.0001, "0.0001"),
        ];
        for (number, text) in cases {
            assert_eq!(float(number), text);
        }
    }
}
