//! The figures of queues as Prometheus text. Written from what is open now, so that queues which are gone leave
//! nothing behind.

use std::fmt::{self, Write as _};

use leasehold_queue::{PartitionOverview, QueueOverview};

/// Queues that have lines of their own. Whoever may create queues must not be able to grow the scrape without bound.
const QUEUES_MAX: usize = 1_000;

/// The name that the queues beyond share.
const OTHER: &str = "other";

/// Of one queue, or of all that share a name.
struct Figures {
    queue: String,
    ready: u64,
    leased: u64,
    scheduled: u64,
    oldest_ready_seconds: f64,
    lease_waiting: usize,
    in_flight: usize,
    /// By partition; one line for all where a name is shared.
    failures: Vec<(String, u64)>,
    events: [(&'static str, u64); 6],
}

/// All queues that are open.
pub(crate) fn render(queues: &[QueueOverview]) -> String {
    let mut text = String::new();
    write(&mut text, &figures(queues, QUEUES_MAX)).expect("text takes everything");
    text
}

fn figures(queues: &[QueueOverview], queues_max: usize) -> Vec<Figures> {
    if queues.len() <= queues_max {
        return queues.iter().map(|queue| Figures::of(queue.name.as_str(), [queue])).collect();
    }
    // A queue of that name would have the same lines as the rest.
    let (own, named_other): (Vec<_>, Vec<_>) = queues.iter().partition(|queue| queue.name.as_str() != OTHER);
    let (own, beyond) = own.split_at(queues_max.min(own.len()));
    let mut figures: Vec<_> = own.iter().map(|queue| Figures::of(queue.name.as_str(), [*queue])).collect();
    let mut other = Figures::of(OTHER, beyond.iter().copied().chain(named_other));
    other.failures = vec![(OTHER.to_owned(), other.failures.iter().map(|(_, failures)| failures).sum())];
    figures.push(other);
    figures
}

impl Figures {
    fn of<'a>(name: &str, queues: impl IntoIterator<Item = &'a QueueOverview>) -> Self {
        let queues: Vec<_> = queues.into_iter().collect();
        let partitions: Vec<&PartitionOverview> = queues.iter().flat_map(|queue| &queue.partitions).collect();
        let sum = |of: fn(&PartitionOverview) -> u64| partitions.iter().map(|partition| of(partition)).sum();
        let oldest = partitions.iter().filter_map(|partition| partition.oldest_ready_age).max();
        Figures {
            queue: escaped(name),
            ready: sum(|partition| partition.counts.ready),
            leased: sum(|partition| partition.counts.leased),
            scheduled: sum(|partition| partition.counts.scheduled),
            oldest_ready_seconds: oldest.unwrap_or_default().as_secs_f64(),
            lease_waiting: queues.iter().map(|queue| queue.lease_waiting).sum(),
            in_flight: queues.iter().map(|queue| queue.in_flight).sum(),
            failures: partitions
                .iter()
                .map(|partition| (partition.partition.to_string(), u64::from(partition.failures)))
                .collect(),
            events: [
                ("produced", sum(|partition| partition.totals.produced)),
                ("leased", sum(|partition| partition.totals.leased)),
                ("completed", sum(|partition| partition.totals.completed)),
                ("retried", sum(|partition| partition.totals.retried)),
                ("expired", sum(|partition| partition.totals.expired)),
                ("dead", sum(|partition| partition.totals.dead)),
            ],
        }
    }
}

/// One family after the other, as the format wants it.
fn write(text: &mut String, all: &[Figures]) -> fmt::Result {
    family(text, "leasehold_queue_items", "gauge", "Items of a queue, by state.")?;
    for Figures { queue, ready, leased, scheduled, .. } in all {
        for (state, items) in [("ready", ready), ("leased", leased), ("scheduled", scheduled)] {
            writeln!(text, "leasehold_queue_items{{queue=\"{queue}\",state=\"{state}\"}} {items}")?;
        }
    }
    family(
        text,
        "leasehold_queue_oldest_ready_seconds",
        "gauge",
        "Age of the oldest ready item; 0 if none is.",
    )?;
    for Figures { queue, oldest_ready_seconds, .. } in all {
        writeln!(text, "leasehold_queue_oldest_ready_seconds{{queue=\"{queue}\"}} {oldest_ready_seconds}")?;
    }
    family(text, "leasehold_queue_lease_waiting", "gauge", "Leases that wait for items.")?;
    for Figures { queue, lease_waiting, .. } in all {
        writeln!(text, "leasehold_queue_lease_waiting{{queue=\"{queue}\"}} {lease_waiting}")?;
    }
    family(text, "leasehold_queue_requests_in_flight", "gauge", "Requests that are not answered yet.")?;
    for Figures { queue, in_flight, .. } in all {
        writeln!(text, "leasehold_queue_requests_in_flight{{queue=\"{queue}\"}} {in_flight}")?;
    }
    family(
        text,
        "leasehold_queue_partition_failures",
        "gauge",
        "Failures in a row of a partition; 0 if it is well.",
    )?;
    for Figures { queue, failures, .. } in all {
        for (partition, failures) in failures {
            writeln!(
                text,
                "leasehold_queue_partition_failures{{queue=\"{queue}\",partition=\"{partition}\"}} {failures}"
            )?;
        }
    }
    family(
        text,
        "leasehold_queue_events_total",
        "counter",
        "What happened to items since the queue was opened.",
    )?;
    for Figures { queue, events, .. } in all {
        for (event, total) in events {
            writeln!(text, "leasehold_queue_events_total{{queue=\"{queue}\",event=\"{event}\"}} {total}")?;
        }
    }
    Ok(())
}

fn family(text: &mut String, name: &str, kind: &str, help: &str) -> fmt::Result {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

/// As the value of a label.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn queue(name: &str, oldest_seconds: u64) -> QueueOverview {
        let partition = |partition| PartitionOverview {
            partition,
            failures: partition,
            oldest_ready_age: Some(Duration::from_secs(oldest_seconds + u64::from(partition))),
            ..PartitionOverview::default()
        };
        QueueOverview {
            name: name.parse().expect("a name"),
            lease_waiting: 2,
            in_flight: 3,
            partitions: vec![partition(0), partition(1)],
        }
    }

    #[test]
    fn every_queue_has_its_lines() {
        let text = render(&[queue("a\"b\\c", 5), queue("q", 7)]);
        for line in [
            r#"leasehold_queue_items{queue="a\"b\\c",state="ready"} 0"#,
            r#"leasehold_queue_oldest_ready_seconds{queue="q"} 8"#,
            r#"leasehold_queue_lease_waiting{queue="q"} 2"#,
            r#"leasehold_queue_requests_in_flight{queue="q"} 3"#,
            r#"leasehold_queue_partition_failures{queue="q",partition="1"} 1"#,
            r#"leasehold_queue_events_total{queue="q",event="dead"} 0"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }

    #[test]
    fn queues_beyond_the_bound_share_a_name_and_no_line_comes_twice() {
        let queues = [queue("a", 1), queue("b", 9), queue("c", 3), queue("other", 2)];
        let mut text = String::new();
        write(&mut text, &figures(&queues, 1)).expect("writes");
        for line in [
            r#"leasehold_queue_lease_waiting{queue="a"} 2"#,
            r#"leasehold_queue_lease_waiting{queue="other"} 6"#,
            r#"leasehold_queue_oldest_ready_seconds{queue="other"} 10"#,
            r#"leasehold_queue_partition_failures{queue="other",partition="other"} 3"#,
        ] {
            assert_eq!(text.lines().filter(|found| *found == line).count(), 1, "{line}: {text}");
        }
        assert!(!text.contains("\"b\"") && !text.contains("\"c\""), "{text}");
    }
}
