//! The prefixes and suffixes that a name got.

use std::rc::Rc;

use yaml::node::Text;

/// The prefixes and suffixes that a name got, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Affixes {
    prefixes: Chain,
    suffixes: Chain,
}

/// Texts in the order they were added. Resources with the same history have the same ones.
type Chain = Option<Rc<Vec<Text>>>;

/// The last chain that was made longer, and what it became.
#[derive(Default)]
pub(crate) struct LastChain(Option<(Chain, Chain)>);

impl LastChain {
    fn extend(&mut self, chain: &mut Chain, text: &Text) {
        let same = |a: &Chain, b: &Chain| match (a, b) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if let Some((before, after)) = &self.0
            && same(before, chain)
            && texts(after).last() == Some(text)
        {
            chain.clone_from(after);
            return;
        }
        let longer = texts(chain).iter().chain([text]).cloned().collect();
        let longer = Some(Rc::new(longer));
        let before = std::mem::replace(chain, longer);
        self.0 = Some((before, chain.clone()));
    }
}

impl Affixes {
    /// These prefixes and suffixes.
    pub(super) fn of(prefixes: Vec<Text>, suffixes: Vec<Text>) -> Affixes {
        let chain = |texts: Vec<Text>| (!texts.is_empty()).then(|| Rc::new(texts));
        Affixes {
            prefixes: chain(prefixes),
            suffixes: chain(suffixes),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.prefixes.is_none() && self.suffixes.is_none()
    }

    pub(crate) fn add_prefix(&mut self, prefix: &Text, last: &mut LastChain) {
        last.extend(&mut self.prefixes, prefix);
    }

    pub(crate) fn add_suffix(&mut self, suffix: &Text, last: &mut LastChain) {
        last.extend(&mut self.suffixes, suffix);
    }

    /// Whether prefixes and suffixes of the two end the same way. With `Empty::Fits`, none at all fits any.
    pub(crate) fn fit(&self, other: &Affixes, empty: Empty) -> bool {
        let fit = |a: &[Text], b: &[Text]| {
            (empty == Empty::Fits && (a.is_empty() || b.is_empty())) || same_end(a, b)
        };
        fit(texts(&self.prefixes), texts(&other.prefixes))
            && fit(texts(&self.suffixes), texts(&other.suffixes))
    }
}

fn texts(chain: &Chain) -> &[Text] {
    chain.as_ref().map_or(&[], |texts| texts.as_slice())
}

/// What having no prefixes or suffixes means for a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    Fits,
    Differs,
}

fn same_end(a: &[Text], b: &[Text]) -> bool {
    let (short, long) = if a.len() > b.len() { (b, a) } else { (a, b) };
    if short.is_empty() {
        return long.is_empty();
    }
    long.ends_with(short)
}
