//! Job queues on PostgreSQL, others' and ours, doing the same work in turns on databases of their own.
//!
//! What is in this process goes through [`shapes::measure`]; what is not is a program under `bench/peers`, which measures
//! the same shapes in the same order and answers with a line of JSON.

pub mod by_hand;
pub mod install;
pub mod leasehold;
pub mod program;
pub mod report;
pub mod shapes;

use std::error::Error;

use serde_json::Value;

/// Something, or why not.
pub type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// What everyone is given to do.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Jobs that are added one per call, and again in batches.
    pub jobs: usize,
    /// Jobs in a batch that is added.
    pub batch: usize,
    /// Callers that add at the same time, each waiting for its answer before it asks again.
    pub clients: usize,
}

/// Bytes of a job's payload.
pub const PAYLOAD_BYTES: usize = 100;

impl Load {
    /// Calls that add a batch.
    #[must_use]
    pub const fn batches(&self) -> usize {
        self.jobs.div_ceil(self.batch)
    }

    /// Jobs that are there to be worked off.
    #[must_use]
    pub const fn stored(&self) -> usize {
        self.jobs + self.batches() * self.batch
    }
}

/// Jobs a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Added one per call.
    pub add: f64,
    /// Added in batches.
    pub add_batch: f64,
    /// Worked off.
    pub work: f64,
}

/// What a queue did in a round, and how it was set up to do it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Of the queue.
    pub version: String,
    /// Workers and batches, for the table.
    pub settings: String,
    /// How it acknowledges, in a line.
    pub note: String,
    /// How fast.
    pub rates: Rates,
}

impl Figures {
    /// Reads the line that a program prints.
    ///
    /// # Errors
    /// Something is missing, or is no number above zero.
    pub fn parse(line: &str) -> Outcome<Self> {
        let answer: Value = serde_json::from_str(line)?;
        let text = |name: &str| {
            answer[name].as_str().map(str::to_owned).ok_or_else(|| format!("the answer has no {name}"))
        };
        let rate = |name: &str| {
            let rate = answer[name].as_f64().filter(|rate| rate.is_finite() && *rate > 0.0);
            rate.ok_or_else(|| format!("the answer has no rate of {name}"))
        };
        Ok(Figures {
            version: text("version")?,
            settings: text("settings")?,
            note: text("note")?,
            rates: Rates { add: rate("add")?, add_batch: rate("add_batch")?, work: rate("work")? },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_filled_up() {
        let load = Load { jobs: 250, batch: 100, clients: 1 };
        assert_eq!((load.batches(), load.stored()), (3, 550));
    }

    #[test]
    fn answer_without_a_rate_is_refused() {
        let line =
            r#"{"version": "1", "settings": "s", "note": "n", "add": 1.5, "add_batch": 2.0, "work": 3.0}"#;
        assert_eq!(Figures::parse(line).unwrap().rates, Rates { add: 1.5, add_batch: 2.0, work: 3.0 });
        assert!(Figures::parse(&line.replace("3.0", "0")).is_err());
        assert!(Figures::parse(&line.replace("\"work\"", "\"walk\"")).is_err());
        assert!(Figures::parse("Error: connection refused").is_err());
    }
}
