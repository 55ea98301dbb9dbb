//! What to look for, and what to do then.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// What a rule waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A client connects.
    Connect,
    /// The stream from client to server contains these bytes.
    Request(Vec<u8>),
    /// The stream from server to client contains these bytes.
    Reply(Vec<u8>),
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing of this chunk is forwarded; both sides are closed. On connect: the server never hears of it.
    Cut,
    /// The chunk goes through, then both sides are closed at once. Whether the server acts on it is open, as it is
    /// after a crash of the client. On connect: the server sees a connection come and go.
    CutAfterForward,
    /// The chunk goes through, the next bytes of the server are discarded, then both sides are closed: the server
    /// *has* acted, the client does not know. With requests in a pipeline those bytes may answer an earlier one;
    /// `Trigger::Reply` with [`Action::Cut`] is exact there. On a reply: this one is discarded.
    DropReply,
    /// The connection stays open and nothing is forwarded any more in either direction, not even a close.
    Blackhole,
    /// The chunk waits, and so does what follows it in its direction. On connect: the server is reached later.
    Delay(Duration),
    /// The chunk waits, and so does what follows it in its direction, until [`RuleHandle::let_go`] or until the last
    /// handle of the rule is dropped. On connect: the server is reached then.
    Hold,
}

/// One fault: a trigger, an action, and on which matches it fires. Made by [`Rule::on`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub(super) trigger: Trigger,
    pub(super) action: Action,
    pub(super) skip: u64,
    /// How often it may still fire.
    pub(super) left: u64,
}

/// A trigger that waits for its action.
#[derive(Clone, Debug)]
#[must_use = "a trigger without an action is no rule"]
pub struct On(Trigger);

impl Rule {
    /// The longest pattern; each connection remembers so many bytes of its past.
    pub const PATTERN_BYTES_MAX: usize = 4_096;

    /// Begins a rule.
    pub fn on(trigger: Trigger) -> On {
        On(trigger)
    }

    /// Fires on so many matches instead of one.
    #[must_use]
    pub fn times(mut self, count: u64) -> Rule {
        self.left = count;
        self
    }

    /// Fires on every match.
    #[must_use]
    pub fn always(self) -> Rule {
        self.times(u64::MAX)
    }

    /// Lets the first matches pass.
    #[must_use]
    pub fn skip(mut self, count: u64) -> Rule {
        self.skip = count;
        self
    }
}

impl On {
    /// Completes the rule; it fires once.
    #[must_use]
    pub fn then(self, action: Action) -> Rule {
        Rule { trigger: self.0, action, skip: 0, left: 1 }
    }
}

/// Watches one rule.
#[derive(Clone, Debug)]
pub struct RuleHandle {
    pub(super) fired: watch::Receiver<u64>,
    /// Opens for good.
    pub(super) gate: Arc<watch::Sender<bool>>,
}

impl RuleHandle {
    /// Resolves once the rule has fired and taken hold: a delay, a hold or a blackhole has begun, bytes to be forwarded
    /// are with the kernel, a reply to be dropped has come. Dropping the future loses nothing.
    ///
    /// # Panics
    /// When the rule was removed before it fired: it never will.
    pub async fn fired(&self) {
        self.fired_times(1).await;
    }

    /// Resolves once the rule has fired so many times; otherwise like [`RuleHandle::fired`].
    ///
    /// # Panics
    /// When the rule was removed before.
    pub async fn fired_times(&self, count: u64) {
        let mut fired = self.fired.clone();
        let removed = fired.wait_for(|times| *times >= count).await.is_err();
        assert!(!removed, "the rule was removed before it fired {count} times");
    }

    /// Lets go what [`Action::Hold`] holds, and whatever the rule would hold from now on.
    pub fn let_go(&self) {
        self.gate.send_replace(true);
    }

    /// How often it has fired.
    #[must_use]
    pub fn count(&self) -> u64 {
        *self.fired.borrow()
    }
}
