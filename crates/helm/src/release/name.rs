//! Names of releases.

use std::sync::Arc;

use gotemplate::{Functions, Session, Templates, Value, World};

/// The longest name, so that names of hooks and labels fit.
const MAX_LENGTH: usize = 53;

/// A name is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// There is none.
    #[error("no name provided")]
    Missing,
    /// It has other characters, or too many.
    #[error(
        "invalid release name, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53"
    )]
    Invalid,
}

/// Whether a release can have that name.
pub fn check_name(name: &str) -> Result<(), InvalidName> {
    if name.is_empty() {
        return Err(InvalidName::Missing);
    }
    let is_part = |part: &str| {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.starts_with(allowed) && part.ends_with(allowed) && part.chars().all(|c| allowed(c) || c == '-')
    };
    if name.len() > MAX_LENGTH || !name.split('.').all(is_part) {
        return Err(InvalidName::Invalid);
    }
    Ok(())
}

/// The name that a template makes.
///
/// # Errors
/// It is none, or fails, in the words of Go.
pub fn from_template(template: &str, world: &mut dyn World) -> Result<String, gotemplate::Error> {
    let mut templates = Templates::new(Arc::new(Functions::sprig()));
    templates.parse("name-template", template)?;
    let mut session = Session::new(gotemplate::Limits::default(), world);
    let name = templates.execute("name-template", &Value::Nil, &mut session)?;
    Ok(String::from_utf8_lossy(&name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_helm_takes() {
        for name in ["a", "a-b.c", "0", &"a".repeat(53)] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in ["A", "-a", "a-", "a..b", "a_b", &"a".repeat(54)] {
            assert_eq!(check_name(name), Err(InvalidName::Invalid), "{name}");
        }
        assert_eq!(check_name(""), Err(InvalidName::Missing));
    }
}
