/// The name, tag and digest of an image.
pub(super) fn split(image: &str) -> (&str, &str, &str) {
    // A colon before the first slash belongs to the registry.
    let start = image.find('/').unwrap_or(0);
    let searched = &image[start..];
    let digest = searched.find('@').map(|at| at + start);
    let tag = searched.find(':').map(|at| at + start);
    match (tag, digest) {
        (None, None) => (image, "", ""),
        (None, Some(digest)) => (&image[..digest], "", &image[digest + 1..]),
        (Some(tag), Some(digest)) if digest < tag => (&image[..digest], "", &image[digest + 1..]),
        (Some(tag), Some(digest)) => (&image[..tag], &image[tag + 1..digest], &image[digest + 1..]),
        (Some(tag), None) => (&image[..tag], &image[tag + 1..], ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_taken_apart() {
        for (image, parts) in [
            ("nginx", ("nginx", "", "")),
            ("nginx:1", ("nginx", "1", "")),
            ("host:5000/nginx", ("host:5000/nginx", "", "")),
            ("host:5000/nginx:1", ("host:5000/nginx", "1", "")),
            ("a/nginx@sha256:ab", ("a/nginx", "", "sha256:ab")),
            ("a/nginx:1@sha256:ab", ("a/nginx", "1", "sha256:ab")),
        ] {
            assert_eq!(split(image), parts, "{image}");
        }
    }
}
