//! Values as text, as Go's `fmt` prints them.
//!
//! [`flags`](self::flags) lays out numbers and strings by flags, width and precision, [`float`](self::float) has the forms
//! of floats, [`value`](self::value) goes through values, and [`printf`](self::printf) reads formats.

pub(crate) mod flags;
pub(crate) mod float;
mod printf;
pub(crate) mod quote;
mod value;

use crate::error::Error;
use crate::value::Value;
pub(crate) use value::Printer;

/// How deep values are printed. Go knows no limit, and values that contain themselves exhaust its stack.
const DEPTH: usize = 500;

/// Appends what `fmt.Fprint` writes of one value, up to `room` bytes.
pub(crate) fn print_value(out: &mut Vec<u8>, value: &Value, room: usize) -> Result<(), Error> {
    let mut printer = Printer::new(std::mem::take(out), room);
    printer.arg(value, 'v');
    let failed = printer.failure();
    *out = printer.out;
    failed.map_or(Ok(()), Err)
}

/// A value as `%v` prints it, for messages: cut where it is very long.
pub fn sprint_value(value: &Value) -> String {
    let mut out = Vec::new();
    // What does not fit is missing in the message, which is better than no message.
    let _ = print_value(&mut out, value, 1 << 20);
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// `fmt.Sprint`: spaces between values of which neither is a string. At most `room` bytes.
///
/// # Errors
/// More than `room` bytes would be printed, or a value is nested too deep.
pub fn sprint(args: &[Value], room: usize) -> Result<Vec<u8>, Error> {
    let mut printer = Printer::new(Vec::new(), room);
    let mut after_string = false;
    for (index, arg) in args.iter().enumerate() {
        let is_string = arg.kind() == crate::value::Kind::String;
        if index > 0 && !is_string && !after_string {
            printer.out.push(b' ');
        }
        printer.arg(arg, 'v');
        after_string = is_string;
    }
    printer.finish()
}

/// `fmt.Sprintln`: spaces between all values, and a newline. At most `room` bytes.
///
/// # Errors
/// Those of [`sprint`].
pub fn sprintln(args: &[Value], room: usize) -> Result<Vec<u8>, Error> {
    let mut printer = Printer::new(Vec::new(), room);
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            printer.out.push(b' ');
        }
        printer.arg(arg, 'v');
    }
    printer.out.push(b'\n');
    printer.finish()
}

/// `fmt.Sprintf`. At most `room` bytes.
///
/// # Errors
/// Those of [`sprint`]. What Go complains of stands in the text: `%!d(string=x)`.
pub fn sprintf(format: &[u8], args: &[Value], room: usize) -> Result<Vec<u8>, Error> {
    let mut printer = Printer::new(Vec::new(), room);
    printf::run(&mut printer, format, args);
    printer.finish()
}
