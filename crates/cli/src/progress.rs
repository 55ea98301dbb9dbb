//! How far a long command is, on a terminal, beside its data.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const REDRAW: Duration = Duration::from_millis(100);

/// A line on stderr that is drawn over; silent where nobody watches.
#[derive(Debug)]
pub(crate) struct Progress {
    verb: &'static str,
    count: u64,
    total: Option<u64>,
    started: Instant,
    drawn: Option<Instant>,
    watched: bool,
}

impl Progress {
    pub(crate) fn new(verb: &'static str, total: Option<u64>) -> Self {
        let watched = io::stderr().is_terminal();
        Progress { verb, count: 0, total, started: Instant::now(), drawn: None, watched }
    }

    /// With an end that is looked for only where somebody watches.
    pub(crate) fn towards(verb: &'static str, total: impl FnOnce() -> Option<u64>) -> Self {
        let mut progress = Progress::new(verb, None);
        if progress.watched {
            progress.total = total();
        }
        progress
    }

    pub(crate) fn add(&mut self, items: usize) {
        self.count += items as u64;
        if self.watched && self.drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAW) {
            self.drawn = Some(Instant::now());
            let _ = write!(
                io::stderr(),
                "\r\x1b[K{}",
                line(self.verb, self.count, self.total, self.started.elapsed())
            );
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

impl Drop for Progress {
    /// Leaves the terminal as it was found.
    fn drop(&mut self) {
        if self.drawn.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(verb: &str, count: u64, total: Option<u64>, elapsed: Duration) -> String {
    let rate = count as f64 / elapsed.as_secs_f64().max(0.001);
    match total.filter(|total| *total > 0) {
        None => format!("{verb} {count} items, {rate:.0}/s"),
        Some(total) => {
            let filled = usize::try_from((count.min(total) * 20) / total).unwrap_or(20);
            format!(
                "{verb} [{}{}] {count}/{total} items, {rate:.0}/s",
                "#".repeat(filled),
                " ".repeat(20 - filled)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_is_drawn_where_the_end_is_known_and_never_overflows() {
        let second = Duration::from_secs(1);
        assert_eq!(line("exported", 5, None, second), "exported 5 items, 5/s");
        assert_eq!(
            line("exported", 5, Some(10), second),
            format!("exported [{}{}] 5/10 items, 5/s", "#".repeat(10), " ".repeat(10))
        );
        assert!(line("exported", 30, Some(10), second).contains(&"#".repeat(20)));
    }
}
