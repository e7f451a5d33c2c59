//! The first thing a server says: which version it speaks, what it can do and, in the old versions, all references.

use gix_hash::ObjectId;

use super::listing::{List, at_most};
use super::packets::{Packet, Packets, text};
use crate::git::error::Cause;
use crate::git::refs::Ref;

/// The most capabilities that a server may have.
const MAX_CAPABILITIES: usize = 1000;
/// The most bytes that all capabilities of a server may have together.
const MAX_BYTES: usize = 64 << 10;

/// What a server can do: words, some with a value.
#[derive(Clone, Debug, Default)]
pub(in crate::git) struct Capabilities {
    words: Vec<(String, Option<String>)>,
    bytes: usize,
}

impl Capabilities {
    fn push(&mut self, word: &str) -> Result<(), Cause> {
        self.bytes += word.len() + 1;
        at_most(self.bytes, MAX_BYTES, "bytes in the capabilities of its server")?;
        self.words.push(match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (word.to_owned(), None),
        });
        at_most(
            self.words.len(),
            MAX_CAPABILITIES,
            "capabilities that its server names",
        )
    }

    /// The capabilities that requests of version 2 depend on. They are so few that they can be kept for every server.
    pub(in crate::git) fn essential(&self) -> Self {
        let plain = ["agent", "object-format"];
        let plain = plain.into_iter().filter(|name| self.has(name));
        let mut words: Vec<_> = plain.map(|name| (name.to_owned(), None)).collect();
        if self.offers("fetch", "shallow") {
            words.push(("fetch".to_owned(), Some("shallow".to_owned())));
        }
        Capabilities { words, bytes: 0 }
    }

    /// Whether it can do this.
    pub(in crate::git) fn has(&self, name: &str) -> bool {
        self.words.iter().any(|(word, _)| word == name)
    }

    /// The value of a word.
    pub(in crate::git) fn value(&self, name: &str) -> Option<&str> {
        self.words.iter().find(|(word, _)| word == name)?.1.as_deref()
    }

    /// Whether the value of a word is a list with this in it.
    pub(in crate::git) fn offers(&self, name: &str, feature: &str) -> bool {
        let features = self.value(name).unwrap_or_default();
        features.split(' ').any(|offered| offered == feature)
    }

    fn check(&self) -> Result<(), Cause> {
        match self.value("object-format") {
            Some("sha1") | None => Ok(()),
            Some(other) => Err(Cause::ObjectFormat(other.to_owned())),
        }
    }
}

/// What a server says first.
#[derive(Clone, Debug)]
pub(in crate::git) enum Greeting {
    /// Version 0 or 1: all references.
    Old {
        /// What it can do.
        capabilities: Capabilities,
        /// The references.
        refs: Vec<Ref>,
    },
    /// Version 2: only what it can do.
    Second(Capabilities),
}

impl Greeting {
    /// Reads a greeting, with or without the line that HTTP puts in front.
    pub(in crate::git) async fn read(packets: &mut Packets<'_>) -> Result<Self, Cause> {
        let mut first = packets.next().await?;
        if let Some(Packet::Data(data)) = &first
            && data.starts_with(b"# service=")
        {
            if packets.next().await? != Some(Packet::Flush) {
                return Err(Cause::protocol("there is no end of the service line"));
            }
            first = packets.next().await?;
        }
        let Some(first) = first else {
            return Err(Cause::Disconnected(None));
        };
        let Packet::Data(data) = first else {
            // An empty repository of an old server.
            return Ok(Greeting::Old {
                capabilities: Capabilities::default(),
                refs: Vec::new(),
            });
        };
        match text(&data).as_str() {
            "version 2" => read_second(packets).await,
            "version 1" => match packets.next().await? {
                Some(Packet::Data(data)) => read_old(&data, packets).await,
                _ => Ok(Greeting::Old {
                    capabilities: Capabilities::default(),
                    refs: Vec::new(),
                }),
            },
            _ => read_old(&data, packets).await,
        }
    }
}

async fn read_second(packets: &mut Packets<'_>) -> Result<Greeting, Cause> {
    let mut capabilities = Capabilities::default();
    while let Some(line) = packets.line().await? {
        capabilities.push(&line)?;
    }
    capabilities.check()?;
    Ok(Greeting::Second(capabilities))
}

async fn read_old(first: &[u8], packets: &mut Packets<'_>) -> Result<Greeting, Cause> {
    let mut capabilities = Capabilities::default();
    let mut list = List::default();
    let line = match first.iter().position(|byte| *byte == 0) {
        Some(end) => {
            let words = text(&first[end + 1..]);
            words
                .split(' ')
                .filter(|word| !word.is_empty())
                .try_for_each(|word| capabilities.push(word))?;
            text(&first[..end])
        }
        None => text(first),
    };
    capabilities.check()?;
    add(&line, &mut list)?;
    while let Some(line) = packets.line().await? {
        add(&line, &mut list)?;
    }
    Ok(Greeting::Old {
        capabilities,
        refs: list.refs,
    })
}

fn add(line: &str, list: &mut List) -> Result<(), Cause> {
    list.count(line)?;
    let (id, name) = id_and_rest(line)?;
    if name == "capabilities^{}" || line.starts_with("shallow ") {
        return Ok(());
    }
    match (name.strip_suffix("^{}"), list.refs.last_mut()) {
        (Some(name), Some(last)) if last.name == name => last.peeled = Some(id),
        (Some(_), _) => {}
        (None, _) => list.add(Ref::new(name, id))?,
    }
    Ok(())
}

/// Reads `<id> <rest>`.
pub(super) fn id_and_rest(line: &str) -> Result<(ObjectId, &str), Cause> {
    let parts = line.split_once(' ');
    let parsed = parts.and_then(|(id, rest)| Some((ObjectId::from_hex(id.as_bytes()).ok()?, rest)));
    parsed.filter(|(_, rest)| !rest.is_empty()).ok_or_else(|| {
        let shown: String = line.chars().take(60).collect();
        Cause::protocol(format!("{shown:?} is no reference"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::packets::{flush, line, tests::Pieces};
    use super::*;

    async fn greeting(lines: &[&str]) -> Result<Greeting, Cause> {
        let mut bytes = Vec::new();
        for text in lines {
            match *text {
                "" => flush(&mut bytes),
                text => line(&mut bytes, text),
            }
        }
        let mut pieces = Pieces::of(&bytes, 7);
        Greeting::read(&mut Packets::new(&mut pieces)).await
    }

    #[tokio::test]
    async fn old_servers_say_all_references_at_once() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let first = format!("{one} HEAD\0thin-pack symref=HEAD:refs/heads/main agent=git/2");
        let tag = format!("{two} refs/tags/v1");
        let peeled = format!("{one} refs/tags/v1^{{}}");
        let lines = ["# service=git-upload-pack", "", &first, &tag, &peeled, ""];
        for version in [&lines[..], &["version 1", &first, &tag, &peeled, ""]] {
            let Greeting::Old { capabilities, refs } = greeting(version).await.unwrap() else {
                panic!("version 0 was spoken");
            };
            assert!(capabilities.has("thin-pack") && !capabilities.has("shallow"));
            assert_eq!(capabilities.value("agent"), Some("git/2"));
            assert_eq!(refs.len(), 2);
            assert_eq!(refs[1].target().to_string(), one);
        }
    }

    #[tokio::test]
    async fn an_empty_repository_has_no_references() {
        let nothing = format!("{} capabilities^{{}}\0thin-pack", "0".repeat(40));
        for lines in [
            &[nothing.as_str(), ""][..],
            &["# service=git-upload-pack", "", ""],
            &["version 1", ""],
        ] {
            let Greeting::Old { refs, .. } = greeting(lines).await.unwrap() else {
                panic!("version 0 was spoken");
            };
            assert!(refs.is_empty());
        }
    }

    #[tokio::test]
    async fn other_hashes_are_refused() {
        let error = greeting(&["version 2", "object-format=sha256", ""])
            .await
            .unwrap_err();
        assert!(error.to_string().contains("'sha256' are not supported"));
        let error = greeting(&["hello there", ""]).await.unwrap_err();
        assert!(error.to_string().contains("is no reference"));
    }
    #[tokio::test]
    async fn greetings_have_limits() {
        let one = "1".repeat(40);
        let word = "c".repeat(33_000);
        let second = ["version 2", &word, &word, ""];
        let first = format!("{one} HEAD\0thin-pack");
        let long = format!("{one} refs/heads/{}", "n".repeat(4096));
        let old = [first.as_str(), &long, ""];
        let many: Vec<String> = (0..1001).map(|number| number.to_string()).collect();
        let many: Vec<&str> = std::iter::once("version 2")
            .chain(many.iter().map(String::as_str))
            .collect();
        for (lines, expected) in [
            (&second[..], "more than 65536 bytes in the capabilities"),
            (&old[..], "more than 4096 bytes in the name of a reference"),
            (&many[..], "more than 1000 capabilities"),
        ] {
            let error = greeting(lines).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[tokio::test]
    async fn little_is_kept_of_capabilities() {
        let agent = format!("agent={}", "a".repeat(30_000));
        let other = "o".repeat(30_000);
        let lines = ["version 2", &agent, &other, "fetch=shallow wait-for-done", ""];
        let Greeting::Second(capabilities) = greeting(&lines).await.unwrap() else {
            panic!("version 2 was spoken");
        };
        let kept = capabilities.essential();
        assert!(kept.has("agent") && kept.offers("fetch", "shallow") && !kept.has("object-format"));
        assert!(format!("{kept:?}").len() < 200, "{kept:?}");
    }
}
