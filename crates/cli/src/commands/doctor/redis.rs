use std::collections::BTreeMap;

use leasehold_locks::backend::redis::{Condition, RedisBackend};

use super::clock::{self, SAMPLES, Sample};
use super::finding::Findings;

pub(super) async fn look(redis: &RedisBackend, findings: &mut Findings) {
    let condition = match redis.inspect().await {
        Ok(condition) => condition,
        Err(error) => {
            findings.failed("reach", error, "check that it runs, its address, and user and password");
            return;
        }
    };
    judge(&condition, findings);
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        let asked = clock::now();
        if let Ok(theirs) = redis.server_time().await {
            samples.push(Sample { asked, theirs, answered: clock::now() });
        }
    }
    clock::judge(findings, &samples);
}

/// The oldest that the tests run against is 7.0; the scripts use nothing newer than 5.0.
const VERSION_MIN: u32 = 5;

fn judge(condition: &Condition, findings: &mut Findings) {
    let info = &condition.info;
    let field = |name: &str| info.get(name).map_or("", String::as_str);
    let version = field("redis_version");
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(major) if major >= VERSION_MIN => findings.ok("version", format!("Redis {version} answers")),
        _ => findings.problem(
            "version",
            format!("Redis '{version}' is older than what locks were tested on"),
            "use Redis 7 or later, or Valkey",
        ),
    }
    match field("role") {
        "slave" => findings.problem(
            "role",
            "this is a replica: it takes no writes, and what it says may be old",
            "name the primary",
        ),
        _ => findings.ok("role", "this is a primary"),
    }
    persistence(condition, findings);
    eviction(info, findings);
}

/// What a crash loses may be a fence: the next holder then gets one that was given before.
fn persistence(condition: &Condition, findings: &mut Findings) {
    let field = |name: &str| condition.info.get(name).map_or("", String::as_str);
    let next = "set appendonly yes and appendfsync always, or live with fences that may repeat after a crash";
    if field("aof_last_write_status") == "err" {
        findings.problem(
            "persistence",
            "its last write to the append-only file failed",
            "look at its disk and log",
        );
        return;
    }
    match (field("aof_enabled"), condition.appendfsync.as_deref()) {
        ("1", Some("always")) => findings.ok("persistence", "append-only file, written through on every write"),
        ("1", Some(policy)) => findings.warning(
            "persistence",
            format!("append-only file with appendfsync {policy}: a crash can lose the last writes, fences among them"),
            next,
        ),
        ("1", None) => findings.warning(
            "persistence",
            "append-only file; it does not say when it is written through",
            "ask whoever hosts it: only 'always' keeps every acknowledged write",
        ),
        _ => findings.problem(
            "persistence",
            "no append-only file: a restart forgets all that came after the last snapshot, fences among it",
            next,
        ),
    }
}

fn eviction(info: &BTreeMap<String, String>, findings: &mut Findings) {
    let number = |name: &str| info.get(name).and_then(|value| value.parse::<u64>().ok()).unwrap_or(0);
    let policy = info.get("maxmemory_policy").map_or("", String::as_str);
    let (used, max) = (number("used_memory"), number("maxmemory"));
    let evicts = !matches!(policy, "" | "noeviction");
    let next = "set maxmemory-policy noeviction, or keep locks in a Redis of their own";
    match (evicts, max) {
        (true, 0) => findings.warning(
            "eviction",
            format!("maxmemory-policy is {policy}; it has no effect only as long as maxmemory is not set"),
            next,
        ),
        (true, _) => findings.problem(
            "eviction",
            format!(
                "maxmemory-policy is {policy}: locks and fence counters are thrown away when memory is full"
            ),
            next,
        ),
        (false, max) if max > 0 && used >= max / 10 * 9 => findings.warning(
            "eviction",
            format!("{used} of {max} bytes are used; when memory is full, acquiring fails"),
            "raise maxmemory, or remove what else is in there",
        ),
        _ => findings.ok("eviction", "nothing is thrown away to make room"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(info: &[(&str, &str)], appendfsync: Option<&str>) -> String {
        let mut all = BTreeMap::from(
            [
                ("redis_version", "7.2.4"),
                ("role", "master"),
                ("aof_enabled", "1"),
                ("maxmemory_policy", "noeviction"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        all.extend(info.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let mut findings = Findings::default();
        judge(&Condition { info: all, appendfsync: appendfsync.map(str::to_owned) }, &mut findings);
        findings.to_string()
    }

    #[test]
    fn what_can_lose_a_lock_or_a_fence_is_told() {
        assert!(judged(&[], Some("always")).contains("4 ok, 0 warning(s), 0 problem(s)"));
        for (info, appendfsync, expected) in [
            (&[][..], Some("everysec"), "warning  persistence"),
            (&[], None, "warning  persistence"),
            (&[("aof_enabled", "0")], Some("always"), "problem  persistence"),
            (&[("aof_last_write_status", "err")], Some("always"), "problem  persistence"),
            (&[("maxmemory_policy", "allkeys-lru")], Some("always"), "warning  eviction"),
            (&[("maxmemory_policy", "allkeys-lru"), ("maxmemory", "9")], Some("always"), "problem  eviction"),
            (&[("maxmemory", "100"), ("used_memory", "95")], Some("always"), "warning  eviction"),
            (&[("role", "slave")], Some("always"), "problem  role"),
            (&[("redis_version", "3.2.1")], Some("always"), "problem  version"),
            (&[("redis_version", "")], Some("always"), "problem  version"),
        ] {
            let shown = judged(info, appendfsync);
            assert!(shown.contains(expected), "{info:?}: {shown}");
        }
    }
}
