//! A process that works on queues is killed at any moment; whoever opens the folder next finds all that it told of.
//!
//! The child says what it is about to do, does it, and says that it is done. After `kill -9` its words are compared
//! with what is in the folder: what was done is there, what was not even tried is not, and what lies between is there
//! whole or not at all.

mod audit;
mod child;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use audit::Audit;

const FOLDER: &str = "LEASEHOLD_TEST_QUEUE_CHILD";
const SEED: &str = "LEASEHOLD_TEST_QUEUE_SEED";
const START: &str = "LEASEHOLD_TEST_QUEUE_START";
const PARTITIONS: u32 = 3;

/// A small generator: a run can be repeated from its seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Kills and audits until `goes_on` says no; how many kills that were, and how many acknowledged steps.
pub(crate) async fn kill_and_audit(seed: u64, mut goes_on: impl FnMut(u64) -> bool) -> (u64, u64) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let mut random = Random::new(seed);
    let mut audit = Audit::default();
    let mut kills = 0;
    while goes_on(kills) {
        let lines = 1 + random.below(120);
        for line in words_of_a_killed_child(folder.path(), random.below(u64::MAX), audit.next_number(), lines)
        {
            audit.hear(&line);
        }
        kills += 1;
        audit.check(folder.path(), &format!("seed {seed}, kill {kills}")).await;
    }
    (kills, audit.acknowledged())
}

/// Everything that the child said until it was killed, after about as many lines as given.
fn words_of_a_killed_child(folder: &Path, seed: u64, start: u64, lines: u64) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().expect("is a program"))
        .args(["--exact", "crash::child::child_that_is_killed", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .env(SEED, seed.to_string())
        .env(START, start.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut said = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let is_ours = |line: &String| line.starts_with("try ") || line.starts_with("did ");
    let mut words: Vec<_> =
        said.by_ref().filter(is_ours).take(usize::try_from(lines).expect("fits")).collect();
    assert!(!words.is_empty(), "the child ended by itself");
    child.kill().expect("kill -9");
    words.extend(said.filter(is_ours));
    child.wait().expect("is gone");
    words
}
