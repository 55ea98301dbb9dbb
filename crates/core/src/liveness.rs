//! Whether a hold still counts.

use std::time::Duration;

use crate::Timestamp;

/// How long past its expiry a hold still counts. Fixed: every process on one store must agree on it, or two
/// of them would judge the same hold differently.
pub const TIME_TOLERANCE: Duration = Duration::from_millis(1000);

/// Whether a hold that expires at `expires_at` is live at `now`. `now` is the judging clock's: the store's
/// where it has one.
///
/// Judging in microseconds gives the same answer as peers that cut `now` to milliseconds, because the expiry
/// and the tolerance are whole milliseconds.
pub fn is_live(expires_at: Timestamp, now: Timestamp, tolerance: Duration) -> bool {
    expires_at > now.saturating_sub(tolerance)
}
