//! The parts of a process: what each of Flux's controllers is here.

/// One of Flux's controllers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Its name in Flux, by which its events, its fields and its lease are known.
    pub(super) name: &'static str,
    /// How many objects of a kind it works on at once, unless said otherwise.
    pub(super) concurrent: usize,
    /// The switches it knows, and what they are unless they are set. One that several parts know is the same in all of them.
    pub(super) gates: &'static [(&'static str, bool)],
}
