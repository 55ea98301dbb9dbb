//! Whether this machine has memory to spare for data folders.

use std::{path::Path, process::Command};

use crate::{TIME_LIMIT, program};

const PLACE: &str = "/dev/shm";
/// Some hundred test databases; containers often have 64 MiB only, in which a server would fail midway.
const SPARE_BYTES_MIN: u64 = 2 << 30;

/// The file system in memory, if it and the memory behind it have room.
pub(crate) fn place() -> Option<&'static Path> {
    let told = program::run(Command::new("stat").args(["-f", "-c", "%T %a %S", PLACE]), TIME_LIMIT).ok()?;
    let memory = std::fs::read_to_string("/proc/meminfo").ok()?;
    let room = room_in(&told)?.min(available_in(&memory)?);
    (room >= SPARE_BYTES_MIN).then_some(Path::new(PLACE))
}

/// From `tmpfs <free blocks> <block size>`.
fn room_in(told: &str) -> Option<u64> {
    let mut words = told.split_whitespace();
    if words.next()? != "tmpfs" {
        return None;
    }
    words.next()?.parse::<u64>().ok()?.checked_mul(words.next()?.parse().ok()?)
}

/// A file system in memory may promise more than there is.
fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::{available_in, room_in};

    #[test]
    fn room_is_blocks_times_size_of_a_memory_file_system() {
        assert_eq!(room_in("tmpfs 16384 4096\n"), Some(64 << 20));
        assert_eq!(room_in("ext2/ext3 16384 4096\n"), None);
        assert_eq!(room_in("tmpfs x 4096"), None);
        assert_eq!(room_in("tmpfs"), None);
    }

    #[test]
    fn available_memory_is_read_in_bytes() {
        assert_eq!(available_in("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        assert_eq!(available_in("MemTotal: 9 kB\n"), None);
    }
}
