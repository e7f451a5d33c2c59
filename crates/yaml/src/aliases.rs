//! What anchors stand for, and how much aliases may make of it.

use std::collections::HashMap;

use crate::build::Content;

/// The anchors of one document.
#[derive(Default)]
pub(crate) struct Aliases {
    anchors: HashMap<String, Anchored>,
    /// All that was read so far, aliases counted as often as they are expanded.
    spent: Spent,
    /// What of that came from aliases and from keeping anchors.
    copied: Spent,
}

struct Anchored {
    content: Content,
    height: usize,
    cost: Spent,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Spent {
    nodes: usize,
    bytes: usize,
}

/// The aliases of a document make too much of it.
pub(crate) const EXCESSIVE: &str = "document contains excessive aliasing";

impl Aliases {
    /// Counts one more node with a text of so many bytes; returns what had been spent before it.
    pub(crate) fn spend(&mut self, bytes: usize) -> Spent {
        let before = self.spent;
        self.spent.nodes += 1;
        self.spent.bytes += bytes;
        before
    }

    /// Keeps what an anchor stands for: a node that was begun when `before` had been spent.
    pub(crate) fn remember(
        &mut self,
        name: String,
        content: &Content,
        height: usize,
        before: Spent,
    ) -> Result<(), &'static str> {
        let cost = Spent {
            nodes: self.spent.nodes - before.nodes,
            bytes: self.spent.bytes - before.bytes,
        };
        // Anchors around anchors are kept many times. So this counts as well, other than in Go, which keeps no copies.
        self.copied.bytes += cost.bytes + cost.nodes * std::mem::size_of::<Content>();
        self.check()?;
        self.anchors.insert(
            name,
            Anchored {
                content: content.clone(),
                height,
                cost,
            },
        );
        Ok(())
    }

    /// An anchor of this name begins: an alias inside of it does not mean an older one.
    pub(crate) fn forget(&mut self, name: &str) {
        self.anchors.remove(name);
    }

    /// How deeply the node of an anchor is nested inside; `None` if there is no such anchor.
    pub(crate) fn height(&self, name: &str) -> Option<usize> {
        self.anchors.get(name).map(|anchored| anchored.height)
    }

    /// A copy of the node of an anchor; `None` if there is no such anchor.
    pub(crate) fn expand(&mut self, name: &str) -> Option<Result<Content, &'static str>> {
        let cost = self.anchors.get(name)?.cost;
        self.spend(cost.bytes);
        self.spent.nodes += cost.nodes;
        self.copied.nodes += cost.nodes;
        self.copied.bytes += cost.bytes;
        Some(self.check().map(|()| self.anchors[name].content.clone()))
    }

    /// go-yaml's rule: the larger the document, the smaller the part of it that aliases may make up. Beside it, there is
    /// a limit for the bytes, which Go shares between copies.
    fn check(&self) -> Result<(), &'static str> {
        const SMALL: f64 = 400_000.0;
        const LARGE: f64 = 4_000_000.0;
        const MAX_BYTES: usize = 64 << 20;
        let (copied, all) = (self.copied.nodes as f64, self.spent.nodes as f64);
        let allowed = 0.99 - 0.89 * ((all.clamp(SMALL, LARGE) - SMALL) / (LARGE - SMALL));
        let too_many = copied > 100.0 && all > 1000.0 && copied / all > allowed;
        if too_many || self.copied.bytes > MAX_BYTES {
            Err(EXCESSIVE)
        } else {
            Ok(())
        }
    }
}
