//! How often something took how long.

/// Counts by upper bound.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    pub(super) bounds: &'static [f64],
    /// One for each bound, and one for what is above all.
    counts: Vec<u64>,
    pub(super) sum: f64,
}

impl Histogram {
    /// With bounds that grow.
    pub(super) fn new(bounds: &'static [f64]) -> Self {
        Histogram {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0.0,
        }
    }

    /// Counts a value.
    pub(super) fn observe(&mut self, value: f64) {
        let place = self.bounds.partition_point(|bound| *bound < value);
        self.counts[place] += 1;
        self.sum += value;
    }

    /// How many values there are up to each bound, and at last up to any.
    pub(super) fn cumulated(&self) -> impl Iterator<Item = (f64, u64)> {
        let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
        let mut total = 0;
        bounds.zip(&self.counts).map(move |(bound, count)| {
            total += count;
            (bound, total)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_for_all_bounds_that_it_does_not_exceed() {
        let mut histogram = Histogram::new(&[1.0, 2.0]);
        for value in [0.5, 1.0, 1.5, 5.0] {
            histogram.observe(value);
        }
        let counts: Vec<_> = histogram.cumulated().collect();
        assert_eq!(counts, [(1.0, 2), (2.0, 3), (f64::INFINITY, 4)]);
    }
}
