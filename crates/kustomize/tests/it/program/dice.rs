//! Choices that follow from a seed.

/// A source of choices.
pub(super) struct Dice(fastrand::Rng);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(fastrand::Rng::with_seed(seed))
    }

    /// A number from 0 up to but without `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }

    /// Whether something happens that happens so many times in a hundred.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Some of the choices, in their order.
    pub(super) fn some<T: Copy>(&mut self, choices: &[T], percent: usize) -> Vec<T> {
        choices.iter().copied().filter(|_| self.chance(percent)).collect()
    }

    /// One of the choices as a field in flow style, or nothing.
    pub(super) fn maybe(&mut self, percent: usize, text: impl FnOnce(&mut Dice) -> String) -> String {
        if self.chance(percent) {
            text(self)
        } else {
            String::new()
        }
    }

    /// Up to `most` things with commas between them.
    pub(super) fn list(&mut self, most: usize, mut thing: impl FnMut(&mut Dice) -> String) -> String {
        let count = self.below(most + 1);
        let things: Vec<String> = (0..count).map(|_| thing(self)).collect();
        things.join(", ")
    }
}
