use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use leasehold_client::{Client, Error, Health};

use super::clock;
use super::finding::Findings;
use crate::failure::Failure;
use crate::prometheus::{Sample, parse};

/// An item this old that nobody asks for is forgotten rather than late.
const UNASKED_AFTER_SECONDS: f64 = 600.0;
/// Between two looks at a queue whose consumers wait while it has items: a moment is no fault.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The server tells its time in whole seconds.
const CLOCK_RESOLUTION: Duration = Duration::from_millis(500);

pub(super) async fn look(client: &Client, findings: &mut Findings) {
    let asked = clock::now();
    match client.health().await {
        Ok(health) => {
            judge_health(&health, findings);
            if let Some(theirs) = time_of(&health) {
                let sample = clock::Sample { asked, theirs, answered: clock::now() };
                clock::judge_server(findings, sample, CLOCK_RESOLUTION);
            }
        }
        Err(Error::Answered { status: 400 | 501, .. }) => {
            findings.warning(
                "server",
                "it answers, but does not serve /health and /metrics here",
                "name its address for operators (admin-address) with --endpoint",
            );
            return;
        }
        Err(error) => {
            let failure = Failure::from(error);
            findings.problem("server", failure.line(), "start it, or name another with --endpoint");
            return;
        }
    }
    match figures(client).await {
        Ok(first) => {
            let mut stuck = stuck(&first);
            if !stuck.is_empty() {
                tokio::time::sleep(LOOK_AGAIN_AFTER).await;
                let again = figures(client).await.map(|samples| self::stuck(&samples)).unwrap_or_default();
                stuck.retain(|queue| again.contains(queue));
            }
            judge_queues(&first, &stuck, findings);
        }
        Err(failure) => findings.problem("queues", failure.line(), "look into the server's log"),
    }
}

async fn figures(client: &Client) -> Result<Vec<Sample>, Failure> {
    Ok(parse(&client.metrics().await?))
}

fn time_of(health: &Health) -> Option<Duration> {
    let time = health.report["checks"]["queues:storage"][0]["time"].as_str()?.parse::<Timestamp>().ok()?;
    Duration::try_from(time.as_duration()).ok()
}

fn judge_health(health: &Health, findings: &mut Findings) {
    let ours = env!("CARGO_PKG_VERSION");
    match health.passes {
        true => findings.ok("server", format!("version {} answers, and so does its store", health.version)),
        false => findings.problem(
            "server",
            format!("version {} answers, but its store does not", health.version),
            "its log says why; look at the store itself with --store",
        ),
    }
    if health.version != ours {
        findings.warning(
            "version",
            format!("the server is version {}, this command is {ours}", health.version),
            "use the same release for both",
        );
    }
}

/// Queues that have items and consumers that wait for them.
fn stuck(samples: &[Sample]) -> Vec<String> {
    let queues = by_queue(samples);
    let is_stuck =
        |queue: &Queue| queue.ready > 0.0 && queue.lease_waiting > 0.0 && queue.oldest_seconds > 1.0;
    queues.into_iter().filter(|(_, queue)| is_stuck(queue)).map(|(name, _)| name).collect()
}

#[derive(Default)]
struct Queue {
    ready: f64,
    lease_waiting: f64,
    oldest_seconds: f64,
    /// Partitions that fail, and how often in a row.
    failing: Vec<(String, f64)>,
}

fn by_queue(samples: &[Sample]) -> BTreeMap<String, Queue> {
    let mut queues: BTreeMap<String, Queue> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| !sample.label("queue").is_empty()) {
        let queue = queues.entry(sample.label("queue").to_owned()).or_default();
        match (sample.name.as_str(), sample.label("state")) {
            ("leasehold_queue_items", "ready") => queue.ready = sample.value,
            ("leasehold_queue_lease_waiting", _) => queue.lease_waiting = sample.value,
            ("leasehold_queue_oldest_ready_seconds", _) => queue.oldest_seconds = sample.value,
            ("leasehold_queue_partition_failures", _) if sample.value > 0.0 => {
                queue.failing.push((sample.label("partition").to_owned(), sample.value));
            }
            _ => {}
        }
    }
    queues
}

fn judge_queues(samples: &[Sample], stuck: &[String], findings: &mut Findings) {
    let queues = by_queue(samples);
    let mut well = queues.len();
    for (name, queue) in &queues {
        let unasked =
            queue.ready > 0.0 && queue.lease_waiting == 0.0 && queue.oldest_seconds > UNASKED_AFTER_SECONDS;
        if let Some((partition, failures)) = queue.failing.first() {
            findings.problem(
                "queues",
                format!("partition {partition} of queue '{name}' failed {failures} times in a row"),
                "its store does not take writes: a folder's disk may be full, a database away; the server's log says why; \
                 look at the store itself with --store",
            );
        } else if stuck.contains(name) {
            findings.problem(
                "queues",
                format!("queue '{name}' has ready items while consumers wait for some"),
                "another server may own its partitions: only one may serve a queue; 'leasehold queue reload' opens it anew",
            );
        } else if unasked {
            findings.warning(
                "queues",
                format!(
                    "queue '{name}' has items that wait {:.0} s, and nobody asks for them",
                    queue.oldest_seconds
                ),
                "start its consumers, or remove what nobody wants with 'leasehold queue clear'",
            );
        } else {
            continue;
        }
        well -= 1;
    }
    findings.ok("queues", format!("{well} of {} open queue(s) are well", queues.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> String {
        let samples = parse(text);
        let mut findings = Findings::default();
        judge_queues(&samples, &stuck(&samples), &mut findings);
        findings.to_string()
    }

    fn lines(ready: u32, waiting: u32, oldest: u32, failures: u32) -> String {
        format!(
            "leasehold_queue_items{{queue=\"q\",state=\"ready\"}} {ready}\n\
             leasehold_queue_items{{queue=\"q\",state=\"leased\"}} 9\n\
             leasehold_queue_oldest_ready_seconds{{queue=\"q\"}} {oldest}\n\
             leasehold_queue_lease_waiting{{queue=\"q\"}} {waiting}\n\
             leasehold_queue_partition_failures{{queue=\"q\",partition=\"3\"}} {failures}\n\
             leasehold_build_info{{version=\"1\"}} 1\n"
        )
    }

    #[test]
    fn queues_that_fail_stand_still_or_are_forgotten_are_told_apart() {
        assert_eq!(
            judged(&lines(0, 2, 0, 0)),
            "ok       queues  1 of 1 open queue(s) are well\n1 ok, 0 warning(s), 0 problem(s)"
        );
        assert!(judged(&lines(5, 0, 30, 0)).contains("1 of 1"), "late is not forgotten");
        assert!(
            judged(&lines(5, 0, 700, 0)).contains("warning  queues  queue 'q' has items that wait 700 s")
        );
        assert!(judged(&lines(5, 1, 700, 0)).contains("problem  queues  queue 'q' has ready items while"));
        assert!(judged(&lines(5, 1, 700, 4)).contains("problem  queues  partition 3 of queue 'q' failed 4"));
    }
}
