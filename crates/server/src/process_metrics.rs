//! Figures of the process, under the names that Prometheus' own clients give them. On Linux: elsewhere what the kernel
//! does not tell is left out.

use std::fmt::Write as _;
use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// Notes when the process was started, as far as a server knows: when it was first asked.
pub(crate) fn started_at() -> Duration {
    static STARTED_AT: OnceLock<Duration> = OnceLock::new();
    *STARTED_AT.get_or_init(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// As Prometheus text.
pub(crate) fn render() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let open_files = fs::read_dir("/proc/self/fd").map(Iterator::count).ok();
    let figures = [
        ("process_cpu_seconds_total", "counter", "Time on processors.", Some(cpu_seconds())),
        (
            "process_resident_memory_bytes",
            "gauge",
            "Memory in use.",
            bytes(&status, "VmRSS:").map(|bytes| bytes as f64),
        ),
        (
            "process_virtual_memory_bytes",
            "gauge",
            "Memory that is addressed.",
            bytes(&status, "VmSize:").map(|bytes| bytes as f64),
        ),
        (
            "process_open_fds",
            "gauge",
            "Open files, connections among them.",
            open_files.map(|open| open as f64),
        ),
        (
            "process_max_fds",
            "gauge",
            "How many there may be.",
            getrlimit(Resource::Nofile).current.map(|limit| limit as f64),
        ),
        (
            "process_start_time_seconds",
            "gauge",
            "When the server was started, since 1970.",
            Some(started_at().as_secs_f64()),
        ),
    ];
    let mut text = String::new();
    for (name, kind, help, value) in figures {
        if let Some(value) = value {
            writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}")
                .expect("text takes everything");
        }
    }
    text
}

fn cpu_seconds() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// The kernel counts in kibibytes.
fn bytes(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, name: &str) -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name}: {text}")).parse().expect("a number")
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn figures_are_those_of_this_process() {
        let text = render();
        let resident = value(&text, "process_resident_memory_bytes");
        assert!(resident > 100_000.0 && resident < value(&text, "process_virtual_memory_bytes"), "{text}");
        let open = value(&text, "process_open_fds");
        let kept = [(); 20].map(|()| fs::File::open("/proc/self/status").expect("opens"));
        assert!(value(&render(), "process_open_fds") >= open + 10.0, "other tests may close some");
        drop(kept);
        assert!(value(&text, "process_cpu_seconds_total") > 0.0);
        assert!(value(&text, "process_start_time_seconds") > 1_700_000_000.0);
        assert_eq!(
            value(&render(), "process_start_time_seconds"),
            value(&text, "process_start_time_seconds")
        );
    }

    #[test]
    fn sizes_are_read_with_their_unit_or_not_at_all() {
        assert_eq!(bytes("Name:\tx\nVmRSS:\t    5212 kB\n", "VmRSS:"), Some(5_212 * 1_024));
        assert_eq!(bytes("VmRSS:\t5212 MB\n", "VmRSS:"), None);
        assert_eq!(bytes("", "VmRSS:"), None);
    }
}
