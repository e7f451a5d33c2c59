//! Formats.

use super::flags::Flags;
use super::value::Printer;
use crate::utf8;
use crate::value::Value;

/// Prints the arguments as the format says.
pub(super) fn run(printer: &mut Printer, format: &[u8], args: &[Value]) {
    let mut format = Format {
        text: format,
        at: 0,
        args,
        arg: 0,
        good: true,
        reordered: false,
    };
    while format.at < format.text.len() && printer.has_room() {
        format.good = true;
        let rest = &format.text[format.at..];
        let plain = rest.iter().position(|byte| *byte == b'%').unwrap_or(rest.len());
        printer.out.extend_from_slice(&rest[..plain]);
        format.at += plain;
        if format.at == format.text.len() {
            break;
        }
        format.at += 1;
        printer.flags = Flags::default();
        format.verb(printer);
    }
    format.extra(printer);
}

struct Format<'f> {
    text: &'f [u8],
    at: usize,
    args: &'f [Value],
    /// The argument that is next.
    arg: usize,
    /// Whether the last `[n]` named an argument.
    good: bool,
    reordered: bool,
}

impl Format<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn verb(&mut self, printer: &mut Printer) {
        self.flags(&mut printer.flags);
        let mut after_index = self.arg_number();
        if self.peek() == Some(b'*') {
            self.at += 1;
            match self.int_arg() {
                Some(width) => {
                    if width < 0 {
                        printer.flags.minus = true;
                        printer.flags.zero = false;
                    }
                    printer.flags.width = Some(width.unsigned_abs() as usize);
                }
                None => printer.out.extend_from_slice(b"%!(BADWIDTH)"),
            }
            after_index = false;
        } else {
            printer.flags.width = self.number();
            if after_index && printer.flags.width.is_some() {
                self.good = false;
            }
        }
        if self.at + 1 < self.text.len() && self.peek() == Some(b'.') {
            self.at += 1;
            after_index = self.precision(printer, after_index);
        }
        if !after_index {
            self.arg_number();
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some((_, length, char)) = utf8::runes(rest).next() else {
            printer.out.extend_from_slice(b"%!(NOVERB)");
            return;
        };
        self.at += length;
        self.print(printer, char.unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    fn flags(&mut self, flags: &mut Flags) {
        while let Some(byte) = self.peek() {
            match byte {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => return,
            }
            self.at += 1;
        }
    }

    fn precision(&mut self, printer: &mut Printer, after_index: bool) -> bool {
        if after_index {
            self.good = false;
        }
        let after_index = self.arg_number();
        if self.peek() != Some(b'*') {
            printer.flags.precision = Some(self.number().unwrap_or(0));
            return after_index;
        }
        self.at += 1;
        match self.int_arg().filter(|precision| *precision >= 0) {
            Some(precision) => printer.flags.precision = Some(precision as usize),
            None => printer.out.extend_from_slice(b"%!(BADPREC)"),
        }
        false
    }

    fn print(&mut self, printer: &mut Printer, verb: char) {
        if verb == '%' {
            printer.out.push(b'%');
            return;
        }
        let complaint = match self.args.get(self.arg) {
            _ if !self.good => "(BADINDEX)",
            None => "(MISSING)",
            Some(value) => {
                if matches!(verb, 'v' | 'w') {
                    printer.flags.sharp_v = std::mem::take(&mut printer.flags.sharp);
                    printer.flags.plus_v = std::mem::take(&mut printer.flags.plus);
                }
                printer.arg(value, verb);
                self.arg += 1;
                return;
            }
        };
        printer
            .out
            .extend_from_slice(format!("%!{verb}{complaint}").as_bytes());
    }

    /// A number of up to about a million. Longer ones swallow all that follows, as in Go.
    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            if number.unwrap_or(0) > 1_000_000 {
                self.at = self.text.len();
                return None;
            }
            number = Some(number.unwrap_or(0) * 10 + usize::from(digit - b'0'));
            self.at += 1;
        }
        number
    }

    /// `[n]`, after which the argument of that number is next.
    fn arg_number(&mut self) -> bool {
        if self.peek() != Some(b'[') {
            return false;
        }
        self.reordered = true;
        let rest = &self.text[self.at..];
        let close = rest
            .iter()
            .position(|byte| *byte == b']')
            .filter(|_| rest.len() >= 3);
        let Some(close) = close else {
            self.at += 1;
            self.good = false;
            return false;
        };
        let inner = &rest[1..close];
        self.at += close + 1;
        let number = std::str::from_utf8(inner)
            .ok()
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(number) = number.and_then(|text| text.parse::<usize>().ok()) else {
            self.good = false;
            return false;
        };
        if number == 0 || number > self.args.len() {
            self.good = false;
            return number <= 10_000_000;
        }
        self.arg = number - 1;
        true
    }

    /// An argument as a width or precision.
    fn int_arg(&mut self) -> Option<i64> {
        let value = self.args.get(self.arg)?;
        self.arg += 1;
        match value {
            Value::Int(_, number) if (-1_000_000..=1_000_000).contains(number) => Some(*number),
            _ => None,
        }
    }

    /// Arguments that no verb has printed.
    fn extra(&self, printer: &mut Printer) {
        if self.reordered || self.arg >= self.args.len() || !printer.has_room() {
            return;
        }
        printer.flags = Flags::default();
        printer.out.extend_from_slice(b"%!(EXTRA ");
        for (index, arg) in self.args[self.arg..].iter().enumerate() {
            if index > 0 {
                printer.out.extend_from_slice(b", ");
            }
            if arg.is_nothing() {
                printer.out.extend_from_slice(b"<nil>");
            } else {
                printer.out.extend_from_slice(arg.type_name().as_bytes());
                printer.out.push(b'=');
                printer.arg(arg, 'v');
            }
        }
        printer.out.push(b')');
    }
}
