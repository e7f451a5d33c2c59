//! What a value of `--set` is.

use model::Value;

/// The value that a text stands for.
pub(super) fn value(text: String) -> Value {
    if text.eq_ignore_ascii_case("true") {
        return Value::Bool(true);
    }
    if text.eq_ignore_ascii_case("false") {
        return Value::Bool(false);
    }
    if text.eq_ignore_ascii_case("null") {
        return Value::Null;
    }
    if text == "0" {
        return Value::Int(0);
    }
    // What begins with a zero may be a telephone number or a mode.
    if !text.starts_with('0')
        && let Ok(number) = text.parse::<i64>()
    {
        return Value::Int(number);
    }
    Value::from(text)
}
