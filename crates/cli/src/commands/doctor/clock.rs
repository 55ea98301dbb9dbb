//! How far another clock is from ours.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::finding::Findings;

/// From which difference on something is said.
struct Bounds {
    warning: Duration,
    problem: Duration,
    next: &'static str,
}

/// Beyond it instants in requests mean something else here and there.
const INSTANTS: Bounds = Bounds {
    warning: Duration::from_secs(1),
    problem: Duration::from_secs(60),
    next: "leases and expiry go by the store's clock, instants in requests (schedules, retries) by the caller's: \
           have both machines follow one time source, such as chrony or systemd-timesyncd",
};

/// Where every client judges expiry by its own clock: what the backend warns of, and where it refuses to acquire.
#[cfg(feature = "firestore")]
const EXPIRY: Bounds = Bounds {
    warning: Duration::from_millis(200),
    problem: Duration::from_millis(500),
    next: "every client judges expiry by its own clock, and refuses to acquire from 500 ms on: have all machines follow \
           one time source, such as chrony or systemd-timesyncd",
};

/// Questions asked; the one that took least is believed.
pub(super) const SAMPLES: usize = 5;

/// The other clock's reading, between two of ours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) asked: Duration,
    pub(super) theirs: Duration,
    pub(super) answered: Duration,
}

pub(super) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl Sample {
    fn took(&self) -> Duration {
        self.answered.saturating_sub(self.asked)
    }
}

/// Judges the store's clock, by the sample that took least: the reading is from somewhere between question and answer.
pub(super) fn judge(findings: &mut Findings, samples: &[Sample]) {
    judge_clock(findings, "the store", samples, Duration::ZERO, &INSTANTS);
}

/// The same where expiry is judged by this machine's clock.
#[cfg(feature = "firestore")]
pub(super) fn judge_for_expiry(findings: &mut Findings, samples: &[Sample]) {
    judge_clock(findings, "the store", samples, Duration::ZERO, &EXPIRY);
}

/// Judges the server's, of which there is one reading, as coarse as `resolution`.
pub(super) fn judge_server(findings: &mut Findings, sample: Sample, resolution: Duration) {
    judge_clock(findings, "the server", &[sample], resolution, &INSTANTS);
}

fn judge_clock(
    findings: &mut Findings,
    whose: &str,
    samples: &[Sample],
    resolution: Duration,
    bounds: &Bounds,
) {
    let Some(best) = samples.iter().min_by_key(|sample| sample.took()) else { return };
    let slack = best.took() / 2 + resolution;
    let middle = best.asked + best.took() / 2;
    let (offset, direction) = match best.theirs >= middle {
        true => (best.theirs - middle, "ahead of"),
        false => (middle - best.theirs, "behind"),
    };
    let certain = offset.saturating_sub(slack);
    let shown = format!(
        "{whose}'s clock is {:.3} s {direction} this machine's, give or take {:.3} s",
        offset.as_secs_f64(),
        slack.as_secs_f64()
    );
    match certain {
        certain if certain >= bounds.problem => findings.problem("clock", shown, bounds.next),
        certain if certain >= bounds.warning => findings.warning("clock", shown, bounds.next),
        _ => findings.ok("clock", shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Done;

    fn judged(theirs_ms: u64, took_ms: u64) -> Findings {
        let millis = Duration::from_millis;
        let asked = millis(1_000_000);
        let noisy = Sample { asked, theirs: millis(0), answered: asked + millis(60_000) };
        let sample = Sample { asked, theirs: millis(theirs_ms), answered: asked + millis(took_ms) };
        let mut findings = Findings::default();
        judge(&mut findings, &[noisy, sample]);
        findings
    }

    #[test]
    fn offset_is_judged_by_what_is_certain_about_it() {
        assert!(matches!(judged(1_000_900, 10).done(), Done::Yes));
        assert!(matches!(judged(1_002_000, 10).done(), Done::Warnings));
        assert!(matches!(judged(998_000, 10).done(), Done::Warnings));
        assert!(matches!(judged(1_002_000, 3_000).done(), Done::Yes), "the answer took too long to say");
        assert!(matches!(judged(1_100_000, 10).done(), Done::Problems));
        assert!(judged(998_000, 10).to_string().contains("2.005 s behind"), "{}", judged(998_000, 10));
    }
}
