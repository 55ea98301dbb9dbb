//! Chance that can be repeated.

/// A generator good enough for tests: its whole state is its seed.
#[derive(Debug)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// Below a length that is not zero.
    pub(super) fn index(&mut self, len: usize) -> usize {
        let len = u64::try_from(len).expect("a length of a test fits");
        usize::try_from(self.roll(len)).expect("less than the length")
    }

    /// Often enough in a hundred times.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }
}

/// A number that whoever runs the tests has set.
pub(super) fn asked_for(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The seed of a run that is to be repeated; otherwise one of its own.
pub(super) fn seed(name: &str) -> u64 {
    asked_for(name).unwrap_or_else(|| 0x5eed + u64::from(std::process::id()))
}
