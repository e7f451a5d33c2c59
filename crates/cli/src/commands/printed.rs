//! Standard output and error, whose readers may go away: that ends nothing, and nothing panics because of it.

use std::fmt::Arguments;
use std::io::{ErrorKind, Result, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether nothing that is printed is read any more.
static IS_UNREAD: AtomicBool = AtomicBool::new(false);

/// Prints to standard output: what `print!` and `println!` do in this program. What is half done goes on without a reader; what does
/// nothing but print asks [`is_unread`].
pub(crate) fn out(text: Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    if out.write_fmt(text).and_then(|()| out.flush()).is_err() {
        IS_UNREAD.store(true, Ordering::Relaxed);
    }
}

/// Prints to standard error: what `eprint!` and `eprintln!` do in this program.
pub(crate) fn error(text: Arguments<'_>) {
    // There is nowhere left to say so.
    let _ = std::io::stderr().lock().write_fmt(text);
}

/// Whether whoever has read standard output is gone.
pub(crate) fn is_unread() -> bool {
    IS_UNREAD.load(Ordering::Relaxed)
}

/// Standard output, whose reader may stop reading: `sluice kustomize build | head` is no failure.
pub(crate) struct Printed<W> {
    out: W,
    is_over: bool,
}

/// Standard output.
pub(crate) fn stdout() -> Printed<StdoutLock<'static>> {
    Printed {
        out: std::io::stdout().lock(),
        is_over: false,
    }
}

impl<W: Write> Printed<W> {
    fn unless_over<T>(&mut self, done: T, write: impl FnOnce(&mut W) -> Result<T>) -> Result<T> {
        if self.is_over {
            return Ok(done);
        }
        match write(&mut self.out) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_over = true;
                Ok(done)
            }
            written => written,
        }
    }
}

impl<W: Write> Write for Printed<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.unless_over(bytes.len(), |out| out.write(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        self.unless_over((), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_stops_reading_makes_nothing_fail() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut printed = Printed {
            out: writer,
            is_over: false,
        };
        printed.write_all(b"one").unwrap();
        printed.write_all(b"two").unwrap();
        printed.flush().unwrap();
        assert!(printed.is_over);
    }
}
