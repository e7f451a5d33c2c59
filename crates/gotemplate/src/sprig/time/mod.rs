//! Go's times and durations.

mod duration;
mod format;
mod methods;
mod parse;

pub use duration::Duration;
pub use methods::Time;

/// A text as messages about times quote it: all that is not plain ASCII byte by byte.
fn quote(text: &str) -> String {
    let mut out = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            ' '..='\x7f' => out.push(char),
            other => {
                let mut buffer = [0; 4];
                for byte in other.encode_utf8(&mut buffer).bytes() {
                    out.push_str(&format!("\\x{byte:02x}"));
                }
            }
        }
    }
    out.push('"');
    out
}
