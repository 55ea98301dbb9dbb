//! How far an execution is, and which combinations make sense.

use leasehold_core::Timestamp;

use super::key::check_name;
use crate::{Error, Result};

macro_rules! stored_as_number {
    ($(#[$doc:meta])* $name:ident, $what:literal; $($(#[$variant_doc:meta])* $variant:ident = $number:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// The number it is stored as.
            #[must_use]
            pub const fn number(self) -> i32 {
                match self {
                    $(Self::$variant => $number,)*
                }
            }

            pub(super) fn of(number: i32) -> Result<Self> {
                match number {
                    $($number => Ok(Self::$variant),)*
                    _ => Err(Error::Corrupt { what: $what.to_owned(), reason: format!("{number} is none") }),
                }
            }
        }
    };
}

stored_as_number! {
    /// How far a run is.
    ExecutionState, "state of an execution";
    /// Made, its first task not yet scheduled.
    Created = 1,
    /// Under way.
    Running = 2,
    /// Closed.
    Completed = 3,
    /// Kept for replication while another run of the workflow is the current one.
    Zombie = 4,
    /// Of no effect.
    Void = 5,
    /// Found to be damaged.
    Corrupted = 6,
}

stored_as_number! {
    /// How a run ended, or that it did not.
    ExecutionStatus, "status of an execution";
    /// It did not end.
    Running = 1,
    /// With a result.
    Completed = 2,
    /// With a failure.
    Failed = 3,
    /// As it was asked to.
    Canceled = 4,
    /// Without being asked.
    Terminated = 5,
    /// In favour of another run.
    ContinuedAsNew = 6,
    /// Out of time.
    TimedOut = 7,
    /// It did not end and does not go on.
    Paused = 8,
}

impl ExecutionState {
    /// Created or running: a run that must be the current one.
    pub(super) const fn is_open(self) -> bool {
        matches!(self, Self::Created | Self::Running)
    }
}

impl ExecutionStatus {
    const fn is_open(self) -> bool {
        matches!(self, Self::Running | Self::Paused)
    }
}

/// What the record of the current execution tells of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The request that made the run.
    pub create_request_id: String,
    /// How far it is.
    pub state: ExecutionState,
    /// How it ended.
    pub status: ExecutionStatus,
    /// When it started, if that is known.
    pub start_time: Option<Timestamp>,
}

impl Summary {
    /// A run is completed exactly when its status says how it ended.
    pub(super) fn check(&self) -> Result<()> {
        check_name("create_request_id", &self.create_request_id)?;
        if (self.state == ExecutionState::Completed) == self.status.is_open() {
            let reason = format!("does not go with the status {:?}, is {:?}", self.status, self.state);
            return Err(Error::invalid("state", reason));
        }
        Ok(())
    }

    /// The current run is no zombie.
    pub(super) fn check_may_be_current(&self) -> Result<()> {
        if self.state == ExecutionState::Zombie {
            return Err(Error::invalid("state", "must not be zombie for the current run".to_owned()));
        }
        Ok(())
    }

    /// A run beside the current one, or one that makes way for another, is not open.
    pub(super) fn check_not_open(&self) -> Result<()> {
        if self.state.is_open() {
            let reason =
                format!("must not be created or running beside the current run, is {:?}", self.state);
            return Err(Error::invalid("state", reason));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completed_goes_with_an_end_and_nothing_else_does() {
        use ExecutionState as State;
        use ExecutionStatus as Status;
        for state in [State::Created, State::Running, State::Completed, State::Zombie] {
            for number in 1..=8 {
                let status = Status::of(number).expect("a status");
                let summary = Summary { create_request_id: String::new(), state, status, start_time: None };
                let makes_sense =
                    (state == State::Completed) != matches!(status, Status::Running | Status::Paused);
                assert_eq!(summary.check().is_ok(), makes_sense, "{summary:?}");
            }
        }
    }

    #[test]
    fn numbers_read_back_and_others_are_corrupt() {
        for number in 1..=6 {
            assert_eq!(ExecutionState::of(number).expect("a state").number(), number);
        }
        for number in [-1, 0, 7] {
            assert_eq!(ExecutionState::of(number).expect_err("no state").code(), "state.corrupt");
        }
        assert_eq!(ExecutionStatus::of(9).expect_err("no status").code(), "state.corrupt");
    }
}
