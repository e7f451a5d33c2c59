//! Whether an image is fetched each time depends on how it is named.

/// The pull policy for an image that has none: those tagged `latest`, or not at all, may have changed.
pub(super) fn pull_policy(image: &str) -> &'static str {
    match tag(image) {
        Some("latest") => "Always",
        _ => "IfNotPresent",
    }
}

/// The tag of an image reference; `latest` where it has neither tag nor digest. `None` where it has a digest only, or
/// is no reference.
fn tag(image: &str) -> Option<&str> {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    let after_slash = name.rfind('/').map_or(0, |at| at + 1);
    let (name, tag) = match name[after_slash..].find(':') {
        Some(colon) => (
            &name[..after_slash + colon],
            Some(&name[after_slash + colon + 1..]),
        ),
        None => (name, None),
    };
    if !is_name(name) || !tag.is_none_or(is_tag) || !digest.is_none_or(is_digest) {
        return None;
    }
    tag.or(digest.is_none().then_some("latest"))
}

/// Whether this is a repository, with or without the host of its registry before it.
fn is_name(name: &str) -> bool {
    let path = match name.split_once('/') {
        Some((host, path)) if is_host(host) => path,
        _ => name,
    };
    // Sixty-four hexadecimal digits are an image's identifier.
    let identifier = name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    !identifier && name.len() <= 255 && path.split('/').all(is_component)
}

/// Only what cannot be a folder of Docker Hub is a host.
fn is_host(text: &str) -> bool {
    let looks_like_one =
        text.contains(['.', ':']) || text == "localhost" || text.bytes().any(|b| b.is_ascii_uppercase());
    looks_like_one
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte))
}

/// Lower-case letters and digits, joined by a dot, one or two underscores, or dashes.
fn is_component(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    if !bytes.first().copied().is_some_and(inner) || !bytes.last().copied().is_some_and(inner) {
        return false;
    }
    let joints = text.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    joints
        .into_iter()
        .all(|joint| matches!(joint, "" | "." | "_" | "__") || joint.bytes().all(|byte| byte == b'-'))
}

fn is_tag(tag: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut bytes = tag.bytes();
    tag.len() <= 128
        && bytes.next().is_some_and(word)
        && bytes.all(|byte| word(byte) || byte == b'.' || byte == b'-')
}

fn is_digest(digest: &str) -> bool {
    digest.split_once(':').is_some_and(|(algorithm, hex)| {
        !algorithm.is_empty() && hex.len() >= 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_images_that_may_change_are_always_pulled() {
        for image in [
            "nginx",
            "nginx:latest",
            "localhost:5000/a",
            "ghcr.io/a/b",
            "a/b/c:latest",
            "Host:5/x",
        ] {
            assert_eq!(pull_policy(image), "Always", "{image}");
        }
        let digest = format!("nginx@sha256:{}", "a".repeat(64));
        let both = format!("nginx:latest@sha256:{}", "a".repeat(64));
        assert_eq!(pull_policy(&both), "Always");
        for image in [
            "nginx:1",
            "",
            "UPPER",
            "a b",
            "a//b",
            "localhost:5000/a:v1",
            "nginx:",
            &digest,
            &"a".repeat(64),
        ] {
            assert_eq!(pull_policy(image), "IfNotPresent", "{image}");
        }
    }
}
