//! The text format of Prometheus.

use std::fmt::Write as _;

use super::histogram::Histogram;

/// A text that grows by families and samples.
#[derive(Default)]
pub(super) struct Text {
    text: String,
}

impl Text {
    /// Begins a family of series.
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// One series.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, impl AsRef<str>)], value: f64) {
        self.line(name, labels, &go_float(value));
    }

    /// One series that only grows.
    pub(super) fn count(&mut self, name: &str, labels: &[(&str, impl AsRef<str>)], value: u64) {
        // Numbers of this size are exact in a float, which is what Go has here.
        #[allow(clippy::cast_precision_loss, reason = "no counter gets near 2^53")]
        self.line(name, labels, &go_float(value as f64));
    }

    /// The series of a histogram.
    pub(super) fn histogram(&mut self, name: &str, labels: &[(&str, impl AsRef<str>)], values: &Histogram) {
        let base: Vec<(&str, &str)> = labels.iter().map(|(key, value)| (*key, value.as_ref())).collect();
        let mut all = 0;
        for (bound, count) in values.cumulated() {
            let bound = go_float(bound);
            let labels = [&base[..], &[("le", bound.as_str())]].concat();
            self.count(&format!("{name}_bucket"), &labels, count);
            all = count;
        }
        self.sample(&format!("{name}_sum"), &base, values.sum);
        self.count(&format!("{name}_count"), &base, all);
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn line(&mut self, name: &str, labels: &[(&str, impl AsRef<str>)], value: &str) {
        self.text.push_str(name);
        for (index, (key, text)) in labels.iter().enumerate() {
            self.text.push(if index == 0 { '{' } else { ',' });
            let _ = write!(self.text, "{key}=\"{}\"", escaped(text.as_ref()));
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// A number as Go's `strconv.FormatFloat(value, 'g', -1, 64)` writes it: the shortest digits that mean it, with an exponent
/// below -4 and from 6 on.
fn go_float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.into();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if value != 0.0 && !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a Go program prints for the same numbers.
    #[test]
    fn numbers_are_written_as_go_writes_them() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1e-8, "1e-08"),
            (9.999999999999999e-6, "9.999999999999999e-06"),
            (9.999999999999999e-5, "9.999999999999999e-05"),
            (0.00012, "0.00012"),
            (0.001, "0.001"),
            (1000.0, "1000"),
            (100_000.0, "100000"),
            (123_456.0, "123456"),
            (1e6, "1e+06"),
            (1_234_567.0, "1.234567e+06"),
            (1e21, "1e+21"),
            (12_345_678_901.0, "1.2345678901e+10"),
            (1_789_012_345.123, "1.789012345123e+09"),
            (1799.9999999999986, "1799.9999999999986"),
            (f64::INFINITY, "+Inf"),
        ] {
            assert_eq!(go_float(value), text);
        }
    }

    #[test]
    fn labels_are_escaped() {
        let mut text = Text::default();
        text.sample("up", &[("path", "a\"b\\c\nd")], 1.0);
        assert_eq!(text.finish(), "up{path=\"a\\\"b\\\\c\\nd\"} 1\n");
    }
}
