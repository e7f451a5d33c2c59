//! Floats as Go writes them.

/// `strconv.FormatFloat(number, 'f', -1, 64)`: all digits, no exponent. The MAC is made of this.
pub(crate) fn plain(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    number.to_string()
}

/// `strconv.FormatFloat(number, 'g', -1, 64)`, with the letter of the exponent.
pub(crate) fn shortest(number: f64, letter: char) -> String {
    if !number.is_finite() {
        return plain(number);
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').expect("this notation has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a number");
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}{letter}{sign}{:02}", exponent.abs());
    }
    number.to_string()
}

/// As Go's JSON writes a float; `None` for what JSON has no form for.
pub(crate) fn json(number: f64) -> Option<String> {
    if !number.is_finite() {
        return None;
    }
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let scientific = format!("{number:e}");
        let (digits, exponent) = scientific.split_once('e').expect("this notation has an exponent");
        let sign = if exponent.starts_with('-') { "" } else { "+" };
        return Some(format!("{digits}e{sign}{exponent}"));
    }
    if number == 0.0 && number.is_sign_negative() {
        return Some("-0".to_owned());
    }
    Some(number.to_string())
}

/// As a value of a dotenv or INI file: never to be mistaken for a whole number.
pub(crate) fn flat(number: f64) -> String {
    let text = shortest(number, 'E');
    if text.contains(['.', 'E']) {
        return text;
    }
    if number.is_finite() {
        return format!("{number:.1}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Go's `strconv` and `encoding/json` print for the same numbers.
    #[test]
    fn floats_are_written_as_go_writes_them() {
        for (number, shortest_text, json_text, flat_text) in [
            (1.0, "1", "1", "1.0"),
            (0.1, "0.1", "0.1", "0.1"),
            (1e20, "1e+20", "100000000000000000000", "1E+20"),
            (1e5, "100000", "100000", "100000.0"),
            (1_234_567.5, "1.2345675e+06", "1234567.5", "1.2345675E+06"),
            (1e21, "1e+21", "1e+21", "1E+21"),
            (1.5e300, "1.5e+300", "1.5e+300", "1.5E+300"),
            (1e-5, "1e-05", "0.00001", "1E-05"),
            (1e-7, "1e-07", "1e-7", "1E-07"),
            (123456.5, "123456.5", "123456.5", "123456.5"),
            (-0.0, "-0", "-0", "-0.0"),
        ] {
            assert_eq!(shortest(number, 'e'), shortest_text);
            assert_eq!(json(number).as_deref(), Some(json_text));
            assert_eq!(flat(number), flat_text);
        }
        assert_eq!(plain(1e21), "1000000000000000000000");
        assert_eq!(json(f64::NAN), None);
    }
}
