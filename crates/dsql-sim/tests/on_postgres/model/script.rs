//! What each session of a concurrent history does, without looking at the others; the same for the same seed.

use super::history::{Random, Step};

/// One statement, inside a transaction or by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) step: Step,
    pub(super) is_alone: bool,
}

const UNITS: u64 = 2;

/// What may be in a script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vocabulary {
    pub(super) has_key_share: bool,
    pub(super) has_inserts: bool,
}

/// Short ones: two transactions or lone statements for each session, so that what went wrong can be read.
pub(super) fn scripts(seed: u64, sessions: usize, vocabulary: Vocabulary) -> Vec<Vec<Turn>> {
    let mut random = Random::new(seed);
    (0..sessions).map(|_| (0..UNITS).flat_map(|_| unit(&mut random, vocabulary)).collect()).collect()
}

fn unit(random: &mut Random, vocabulary: Vocabulary) -> Vec<Turn> {
    if random.below(4) == 0 {
        return vec![Turn { step: statement(random, vocabulary), is_alone: true }];
    }
    let mut steps = vec![Step::Begin];
    for _ in 0..=random.below(3) {
        steps.push(statement(random, vocabulary));
    }
    steps.push(if random.below(10) == 0 { Step::Rollback } else { Step::Commit });
    steps.into_iter().map(|step| Turn { step, is_alone: false }).collect()
}

fn statement(random: &mut Random, Vocabulary { has_key_share, has_inserts }: Vocabulary) -> Step {
    loop {
        let step = random.statement(has_key_share);
        if has_inserts || !matches!(step, Step::Insert(..)) {
            return step;
        }
    }
}
