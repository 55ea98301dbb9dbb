//! How many requests were answered, how, and how long they took.

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{Counter, Histogram, counter, histogram};

/// What is asked of the stream of items.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Produce,
    Lease,
    Complete,
    Retry,
    Extend,
}

impl Operation {
    const ALL: [Self; 5] = [Self::Produce, Self::Lease, Self::Complete, Self::Retry, Self::Extend];

    fn name(self) -> &'static str {
        match self {
            Operation::Produce => "produce",
            Operation::Lease => "lease",
            Operation::Complete => "complete",
            Operation::Retry => "retry",
            Operation::Extend => "extend",
        }
    }
}

/// The figures of every operation. Those of success are looked up once, with the first answer: finding them by name
/// and labels takes longer than adding to them, for every request.
#[derive(Debug, Default)]
pub(super) struct RequestFigures([OnceLock<OfOperation>; Operation::ALL.len()]);

struct OfOperation {
    ok: Counter,
    seconds: Histogram,
}

impl std::fmt::Debug for OfOperation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OfOperation").finish_non_exhaustive()
    }
}

impl RequestFigures {
    /// `error` is the code of what went wrong, if anything did.
    pub(super) fn answered(&self, operation: Operation, error: Option<&'static str>, took: Duration) {
        let name = operation.name();
        let figures = self.0[operation as usize].get_or_init(|| OfOperation {
            ok: requests(name, "ok"),
            seconds: histogram!("leasehold_queue_request_seconds", "operation" => name),
        });
        match error {
            None => figures.ok.increment(1),
            Some(code) => requests(name, code).increment(1),
        }
        figures.seconds.record(took);
    }
}

fn requests(operation: &'static str, answer: &'static str) -> Counter {
    counter!("leasehold_queue_requests_total", "operation" => operation, "answer" => answer)
}
