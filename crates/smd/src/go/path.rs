//! Where in an object the reader is, and how messages tell it.

use std::fmt;

/// A way from the root of an object to a value, as a chain of steps on the stack.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    before: Option<&'a Path<'a>>,
    step: Step<'a>,
}

/// One step.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    /// The start.
    Root,
    /// Into a field of a struct.
    Field {
        /// The name of the struct.
        holder: &'a str,
        /// The inlined structs it comes from, each with a dot.
        inlined: &'a str,
        /// The field's name.
        name: &'a str,
    },
    /// Into a value of a map.
    Key(&'a str),
    /// Into an element of a list.
    Index(usize),
}

impl<'a> Path<'a> {
    /// The object itself.
    pub(super) const ROOT: Path<'static> = Path {
        before: None,
        step: Step::Root,
    };

    /// The path one step further.
    pub(super) fn then(&'a self, step: Step<'a>) -> Path<'a> {
        Path {
            before: Some(self),
            step,
        }
    }

    fn steps(&self) -> Vec<Step<'a>> {
        let mut steps: Vec<_> = std::iter::successors(Some(self), |path| path.before)
            .map(|path| path.step)
            .collect();
        steps.reverse();
        steps
    }
}

/// As strict decoding tells unknown fields: `spec.containers[0].foo`.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for step in self.steps() {
            match step {
                Step::Root => continue,
                Step::Index(at) => write!(f, "[{at}]")?,
                Step::Field { name, .. } | Step::Key(name) if first => f.write_str(name)?,
                Step::Field { name, .. } | Step::Key(name) => write!(f, ".{name}")?,
            }
            first = false;
        }
        Ok(())
    }
}

/// Go's message for a value of a wrong type. It names fields only, not keys and places in lists.
pub(super) fn type_fault(found: &str, wanted: &str, path: &Path) -> String {
    let mut holder = None;
    let mut fields = Vec::new();
    for step in path.steps() {
        if let Step::Field {
            holder: in_struct,
            inlined,
            name,
        } = step
        {
            holder = Some(in_struct);
            fields.push(format!("{inlined}{name}"));
        }
    }
    match holder {
        Some(holder) => {
            let field = fields.join(".");
            format!("json: cannot unmarshal {found} into Go struct field {holder}.{field} of type {wanted}")
        }
        None => format!("json: cannot unmarshal {found} into Go value of type {wanted}"),
    }
}
