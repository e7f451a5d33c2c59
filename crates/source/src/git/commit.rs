//! Commits and tags: who, when, why, and what was signed.

use gix_hash::ObjectId;

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: ObjectId,
    /// Who wrote it.
    pub author: Person,
    /// Who put it into the repository.
    pub committer: Person,
    /// The whole message.
    pub message: String,
    /// The armored signature.
    pub signature: Option<String>,
    /// What was signed: the commit without its signature.
    pub payload: Vec<u8>,
    pub(super) tree: ObjectId,
}

/// A tag that led to a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The id of the tag object; a light tag has none.
    pub id: Option<ObjectId>,
    /// The name, without `refs/tags/`.
    pub name: String,
    /// Who set it.
    pub tagger: Person,
    /// The whole message, without the signature.
    pub message: String,
    /// The armored signature.
    pub signature: Option<String>,
    /// What was signed: the tag without its signature.
    pub payload: Vec<u8>,
}

/// Who did something, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The mail address.
    pub email: String,
    /// The time, in seconds since 1970.
    pub time: i64,
}

impl Commit {
    /// Reads a commit.
    pub(super) fn parse(id: ObjectId, content: &[u8]) -> Option<Self> {
        let mut payload = Vec::with_capacity(content.len());
        let mut signature = String::new();
        let (mut tree, mut author, mut committer) = (None, Person::default(), Person::default());
        let (head, message) = split_head(content);
        let mut in_header = Header::Other;
        for line in head.split_inclusive(|byte| *byte == b'\n') {
            let text = String::from_utf8_lossy(line);
            let text = text.trim_end_matches('\n');
            if let Some(continued) = text.strip_prefix(' ') {
                match in_header {
                    Header::Signature => signature.extend([continued, "\n"]),
                    Header::OtherSignature => {}
                    Header::Other => payload.extend_from_slice(line),
                }
                continue;
            }
            let (name, value) = text.split_once(' ').unwrap_or((text, ""));
            in_header = match name {
                "gpgsig" => Header::Signature,
                // Of the same commit in a repository with other hashes.
                _ if name.starts_with("gpgsig-") => Header::OtherSignature,
                _ => Header::Other,
            };
            match name {
                "gpgsig" => signature = format!("{value}\n"),
                "tree" if tree.is_none() => tree = ObjectId::from_hex(value.as_bytes()).ok(),
                "author" => author = Person::parse(value),
                "committer" => committer = Person::parse(value),
                _ => {}
            }
            if let Header::Other = in_header {
                payload.extend_from_slice(line);
            }
        }
        payload.extend_from_slice(&content[head.len()..]);
        Some(Commit {
            id,
            author,
            committer,
            message: String::from_utf8_lossy(message).into_owned(),
            signature: Some(signature).filter(|text| !text.trim().is_empty()),
            payload,
            tree: tree?,
        })
    }

    /// The first line of the message, cut after fifty characters.
    pub fn short_message(&self) -> String {
        let subject = self.message.split('\n').next().unwrap_or_default();
        match subject.char_indices().nth(50) {
            Some((end, _)) => format!("{}...", &subject[..end]),
            None => subject.to_owned(),
        }
    }
}

enum Header {
    Signature,
    OtherSignature,
    Other,
}

impl Tag {
    /// A tag without an object of its own.
    pub(super) fn light(name: &str) -> Self {
        Tag {
            id: None,
            name: name.to_owned(),
            tagger: Person::default(),
            message: String::new(),
            signature: None,
            payload: Vec::new(),
        }
    }

    /// Reads a tag object, and what it points to.
    pub(super) fn parse(id: ObjectId, content: &[u8]) -> Option<(Self, ObjectId)> {
        let end = signature_start(content);
        let payload = content[..end].to_vec();
        let (head, message) = split_head(&payload);
        let head = String::from_utf8_lossy(head);
        let field = |name: &str| {
            let found = head
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            found.unwrap_or_default().to_owned()
        };
        let target = ObjectId::from_hex(field("object").as_bytes()).ok()?;
        let signature = String::from_utf8_lossy(&content[end..]).into_owned();
        let tag = Tag {
            id: Some(id),
            name: field("tag"),
            tagger: Person::parse(&field("tagger")),
            message: String::from_utf8_lossy(message).into_owned(),
            signature: Some(signature).filter(|text| !text.is_empty()),
            payload,
        };
        Some((tag, target))
    }

    /// The tag as messages show it: with the id of its object, if it has one.
    pub fn shown(&self) -> String {
        match self.id {
            Some(id) => format!("{}@{id}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Person {
    /// Reads `Ada <ada@example.com> 1700000000 +0100`.
    fn parse(text: &str) -> Self {
        let (name, rest) = text.split_once('<').unwrap_or((text, ""));
        let (email, when) = rest.split_once('>').unwrap_or((rest, ""));
        let time = when.split_whitespace().next().and_then(|time| time.parse().ok());
        Person {
            name: name.trim().to_owned(),
            email: email.trim().to_owned(),
            time: time.unwrap_or_default(),
        }
    }
}

/// The lines before the first empty one, with their ends, and what follows that.
fn split_head(content: &[u8]) -> (&[u8], &[u8]) {
    match content.windows(2).position(|pair| pair == b"\n\n") {
        Some(end) => (&content[..=end], &content[end + 2..]),
        None => (content, &[]),
    }
}

/// Where the last block begins that looks like a signature, or the end.
fn signature_start(content: &[u8]) -> usize {
    const BEGINNINGS: [&[u8]; 4] = [
        b"-----BEGIN PGP SIGNATURE-----",
        b"-----BEGIN PGP MESSAGE-----",
        b"-----BEGIN SSH SIGNATURE-----",
        b"-----BEGIN SIGNED MESSAGE-----",
    ];
    let (mut at, mut found) = (0, content.len());
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        if BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)) {
            found = at;
        }
        at += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> ObjectId {
        ObjectId::from_hex("1".repeat(40).as_bytes()).unwrap()
    }

    fn commit(signature: &str, message: &str) -> String {
        let tree = "2".repeat(40);
        format!(
            "tree {tree}\nparent {tree}\nauthor Ada L <a@x.org> 1700000000 +0100\n\
             committer Bob <b@x.org> 1700000009 +0000\n{signature}encoding UTF-8\n\n{message}"
        )
    }

    #[test]
    fn a_commit_is_split_into_signature_and_what_was_signed() {
        let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n";
        let other = "gpgsig-sha256 -----BEGIN X-----\n xyz\n";
        let text = commit(&format!("{signature}{other}"), "Subject\n\ngpgsig in the body\n");
        let parsed = Commit::parse(id(), text.as_bytes()).unwrap();
        let armored = "-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n";
        assert_eq!(parsed.signature.as_deref(), Some(armored));
        assert_eq!(
            parsed.payload,
            commit("", "Subject\n\ngpgsig in the body\n").as_bytes()
        );
        assert_eq!(
            (parsed.author.name.as_str(), parsed.author.time),
            ("Ada L", 1_700_000_000)
        );
        assert_eq!(parsed.committer.email, "b@x.org");
        assert_eq!(parsed.tree.to_string(), "2".repeat(40));
    }

    #[test]
    fn subjects_are_cut_after_fifty_characters() {
        let short = |message: &str| {
            Commit::parse(id(), commit("", message).as_bytes())
                .unwrap()
                .short_message()
        };
        assert_eq!(short("One\ntwo"), "One");
        assert_eq!(short(&"ä".repeat(50)), "ä".repeat(50));
        assert_eq!(short(&"ä".repeat(51)), format!("{}...", "ä".repeat(50)));
        assert_eq!(short(""), "");
    }

    #[test]
    fn a_tag_is_split_at_its_last_signature() {
        let head = format!(
            "object {}\ntype commit\ntag v1\ntagger Ada <a@x> 5 +0000\n\n",
            "3".repeat(40)
        );
        let body = "About\n-----BEGIN PGP SIGNATURE-----\nquoted\n";
        let signature = "-----BEGIN SSH SIGNATURE-----\nabc\n-----END SSH SIGNATURE-----\n";
        let (tag, target) = Tag::parse(id(), format!("{head}{body}{signature}").as_bytes()).unwrap();
        assert_eq!(target.to_string(), "3".repeat(40));
        assert_eq!(tag.signature.as_deref(), Some(signature));
        assert_eq!(tag.payload, format!("{head}{body}").as_bytes());
        assert_eq!((tag.name.as_str(), tag.message.as_str()), ("v1", body));
        assert_eq!(tag.shown(), format!("v1@{}", "1".repeat(40)));
        assert_eq!(Tag::light("v2").shown(), "v2");
    }

    #[test]
    fn anything_can_be_read_without_harm() {
        for content in ["", "\n\n", "tree", "object x\n", "tree zz\n\n", " continued\n"] {
            assert!(Commit::parse(id(), content.as_bytes()).is_none());
            assert!(Tag::parse(id(), content.as_bytes()).is_none());
        }
    }

    proptest::proptest! {
        #[test]
        fn what_was_signed_and_the_signature_are_all_of_a_tag(text in "[a-z \n-]{0,200}") {
            let head = format!("object {}\ntype commit\ntag v1\n\n", "3".repeat(40));
            let content = format!("{head}{text}\n-----BEGIN PGP SIGNATURE-----\n{text}");
            let (tag, _) = Tag::parse(id(), content.as_bytes()).unwrap();
            let mut whole = tag.payload.clone();
            whole.extend_from_slice(tag.signature.unwrap_or_default().as_bytes());
            proptest::prop_assert_eq!(whole, content.as_bytes());
        }
    }
}
