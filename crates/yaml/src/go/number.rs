//! Numbers as they come out of JSON and go-yaml.

/// A float as Go's `json.Marshal` and then go-yaml write it: whole ones that fit into 64 bits as whole numbers.
pub(super) fn float(number: f64) -> Result<String, String> {
    if let Some(problem) = unsupported(number) {
        return Err(problem.to_owned());
    }
    if number.fract() == 0.0 && number.abs() < 1e21 {
        // JSON has all digits, and go-yaml reads them as a whole number where one fits.
        let digits = format!("{number:.0}");
        let shortest = shortest_digits(number, digits.trim_start_matches('-').len());
        if let Some(text) = fitting(number, &shortest) {
            return Ok(text);
        }
    }
    Ok(shortest(number))
}

/// Why JSON has no form for a number, in the words of Go's writer.
pub fn unsupported(number: f64) -> Option<&'static str> {
    match number {
        f64::INFINITY => Some("json: unsupported value: +Inf"),
        f64::NEG_INFINITY => Some("json: unsupported value: -Inf"),
        number if number.is_nan() => Some("json: unsupported value: NaN"),
        _ => None,
    }
}

/// The shortest digits that mean the number, filled with zeros to `width`.
fn shortest_digits(number: f64, width: usize) -> String {
    let scientific = format!("{:e}", number.abs());
    let mantissa = scientific.split('e').next().unwrap_or_default();
    let mut digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    while digits.len() < width {
        digits.push('0');
    }
    digits
}

fn fitting(number: f64, digits: &str) -> Option<String> {
    if number < 0.0 {
        let text = format!("-{digits}");
        return text.parse::<i64>().ok().map(|number| number.to_string());
    }
    digits.parse::<u64>().ok().map(|number| number.to_string())
}

/// A float as Go's `FormatFloat(number, 'g', -1, 64)` writes it, which is how sigs.k8s.io/yaml makes texts of them.
pub fn shortest(number: f64) -> String {
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').expect("this notation has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a number");
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_go_writes_them() {
        for (number, text) in [
            (1.0, "1"),
            (-0.0, "0"),
            (1000.0, "1000"),
            (1.5, "1.5"),
            (1_234_567.5, "1.2345675e+06"),
            (123_456.5, "123456.5"),
            (0.00001, "1e-05"),
            (0.0001, "0.0001"),
            (1e19, "10000000000000000000"),
            (1e20, "1e+20"),
            (1e21, "1e+21"),
            (-1e19, "-1e+19"),
            (1.5e300, "1.5e+300"),
        ] {
            assert_eq!(float(number).unwrap(), text);
        }
        assert!(float(f64::NAN).is_err());
    }
}
