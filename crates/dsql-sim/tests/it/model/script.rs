//! What each session of a concurrent history does, without looking at the others; the same for the same seed.

use super::history::{Random, Step};

/// One statement, inside a transaction or by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) step: Step,
    pub(super) is_alone: bool,
}

const UNITS: u64 = 2;

/// Short ones: two transactions or lone statements for each session, so that what went wrong can be read.
pub(super) fn scripts(seed: u64, sessions: usize, has_key_share: bool) -> Vec<Vec<Turn>> {
    let mut random = Random::new(seed);
    (0..sessions).map(|_| (0..UNITS).flat_map(|_| unit(&mut random, has_key_share)).collect()).collect()
}

fn unit(random: &mut Random, has_key_share: bool) -> Vec<Turn> {
    if random.below(4) == 0 {
        return vec![Turn { step: random.statement(has_key_share), is_alone: true }];
    }
    let mut steps = vec![Step::Begin];
    for _ in 0..=random.below(3) {
        steps.push(random.statement(has_key_share));
    }
    steps.push(if random.below(10) == 0 { Step::Rollback } else { Step::Commit });
    steps.into_iter().map(|step| Turn { step, is_alone: false }).collect()
}
