//! Choices that follow from a seed.

/// A source of choices.
pub(super) struct Dice {
    random: fastrand::Rng,
    /// Whether all that is chosen is right. Mistakes come in crowds otherwise, and of a crowd only the first ones are met.
    pub(super) tame: bool,
    /// The kinds and names of the objects that were made for the place at hand.
    pub(super) known: Vec<(&'static str, String)>,
    names: usize,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice {
            random: fastrand::Rng::with_seed(seed),
            tame: false,
            known: Vec::new(),
            names: 0,
        }
    }

    /// A name that was not there before.
    pub(super) fn new_name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    /// Whether a mistake is made that is made once in `times`.
    pub(super) fn wrong_in(&mut self, times: usize) -> bool {
        !self.tame && self.one_in(times)
    }

    /// One of some choices, of which the first `right` ones are no mistakes.
    pub(super) fn choose<T: Copy>(&mut self, right: usize, choices: &[T]) -> T {
        let end = if self.tame { right } else { choices.len() };
        self.pick(&choices[..end])
    }

    /// Whether something happens that happens once in `times`.
    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A number from 0 up to but without `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.random.usize(..end)
    }

    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Up to `most` things.
    pub(super) fn some<T>(&mut self, most: usize, mut thing: impl FnMut(&mut Dice) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| thing(self)).collect()
    }

    /// Letters of all kinds.
    pub(super) fn letters(&mut self, most: usize) -> String {
        let letters = self.some(most, |dice| match dice.below(12) {
            0 => dice.random.char(..),
            1 => dice.pick(&['\n', '\t', '\r', '\0', '\u{85}', '\u{2028}', '\u{feff}', '\u{7f}']),
            2 => dice.pick(&['é', '猫', '🦀', '\u{301}', 'ß', '\u{fffd}']),
            _ => dice.random.char(' '..='~'),
        });
        letters.into_iter().collect()
    }
}
