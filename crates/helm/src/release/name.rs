//! Names of releases.

use std::sync::Arc;

use gotemplate::{Functions, Session, Templates, Value, World};
use model::digest::Algorithm;

use crate::digest::of_bytes;

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

/// A name that is not too long for a release, as Flux shortens it: its beginning, and a digest of all of it.
pub fn shorten(name: &str) -> String {
    const HASH: usize = 12;
    if name.len() <= MAX_LENGTH {
        return name.to_owned();
    }
    let digest = of_bytes(Algorithm::Sha256, name.as_bytes()).hex();
    let mut kept = MAX_LENGTH - HASH - 1;
    while !name.is_char_boundary(kept) {
        kept -= 1;
    }
    format!("{}-{}", &name[..kept], &digest[..HASH])
}

/// The name of the release of a HelmRelease: the given one, or its own, with the namespace it installs into before it.
pub fn release_name(given: &str, target_namespace: &str, own: &str) -> String {
    match (given, target_namespace) {
        ("", "") => shorten(own),
        ("", namespace) => shorten(&format!("{namespace}-{own}")),
        (given, _) => shorten(given),
    }
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

    #[test]
    fn names_are_shortened_as_flux_shortens_them() {
        let long = "a".repeat(54);
        assert_eq!(shorten(&long[..53]), long[..53]);
        assert_eq!(shorten(&long), format!("{}-a3f01b693925", "a".repeat(40)));
        assert_eq!(shorten(&long).len(), 53);
        assert_eq!(release_name("", "", "web"), "web");
        assert_eq!(release_name("", "shop", "web"), "shop-web");
        assert_eq!(release_name("given", "shop", "web"), "given");
        assert_eq!(check_name(&shorten(&long)), Ok(()));
    }
}
