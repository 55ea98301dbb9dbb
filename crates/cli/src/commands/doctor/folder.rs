use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use leasehold_embedded::{FORMAT, Found, Inspection, inspect};

use super::finding::Findings;

const MIB: u64 = 1024 * 1024;

/// Below it a server may stop taking writes any moment.
const FREE_PROBLEM_BYTES: u64 = 100 * MIB;
const FREE_WARNING_BYTES: u64 = 1024 * MIB;

pub(super) fn look(folder: &Path, findings: &mut Findings) {
    match inspect(folder) {
        Ok(inspection) => {
            state(folder, &inspection, findings);
            if inspection.state != Found::Nothing {
                permissions(folder, findings);
            }
        }
        Err(error) => {
            let next = match error.code() {
                "embedded.damaged" => "restore it from a backup, or move it away and start anew",
                "embedded.not_a_folder" => "name a folder",
                _ => "check path and permissions, and run as the server's own user",
            };
            findings.problem("store", format!("{error} ({})", error.code()), next);
        }
    }
    disk(folder, findings);
}

fn state(folder: &Path, inspection: &Inspection, findings: &mut Findings) {
    let shown = folder.display();
    let size = format!("{:.1} MiB", inspection.file_bytes as f64 / MIB as f64);
    match inspection.state {
        Found::Nothing => findings.warning(
            "store",
            format!("there is no store in {shown} yet"),
            "check the path; a server that is started on it makes one",
        ),
        Found::Missing => findings.problem(
            "store",
            format!("{shown} held a store, and its file is missing (embedded.missing)"),
            format!("restore {shown}/leasehold.redb from a backup; to start empty, with fences from 1, delete {shown}/leasehold.id"),
        ),
        Found::Empty => findings.problem(
            "store",
            format!("{shown}: the file of its store is empty (embedded.empty)"),
            format!("restore {shown}/leasehold.redb from a backup; to start empty, with fences from 1, delete it and {shown}/leasehold.id"),
        ),
        Found::Replaced => findings.problem(
            "store",
            format!("{shown}, {size}: its file belongs to another store than its marker names (embedded.replaced)"),
            format!("put the right file back; to go on with this one, delete {shown}/leasehold.id"),
        ),
        Found::InUse => findings.ok(
            "store",
            format!(
                "{shown}, {size}: another process has it open; what is inside can be seen when it is not"
            ),
        ),
        Found::Unclean => findings.warning(
            "store",
            format!("{shown}, {size}: it was not closed by the process that had it last"),
            "nothing acknowledged is lost: the next start reads it from the disk and repairs it, which takes time where it is large",
        ),
        Found::Closed(Some(FORMAT)) => {
            findings.ok("store", format!("{shown}, {size}, format {FORMAT}, closed"));
        }
        Found::Closed(None) => findings.ok("store", format!("{shown}, {size}: it has never been used")),
        Found::Closed(Some(other)) => findings.problem(
            "store",
            format!("{shown} has format {other}; this release reads format {FORMAT}"),
            "use the release that wrote it, or export with that and import with this",
        ),
    }
}

/// Payloads and keys are in there.
fn permissions(folder: &Path, findings: &mut Findings) {
    let Ok(found) = fs::metadata(folder) else { return };
    let mode = found.permissions().mode() & 0o777;
    match mode & 0o077 {
        0 => findings.ok("permissions", format!("only user {} may look into the folder", found.uid())),
        _ => findings.warning(
            "permissions",
            format!("others on this machine may look into the folder: its mode is {mode:o}"),
            format!("chmod 700 {}", folder.display()),
        ),
    }
}

fn disk(folder: &Path, findings: &mut Findings) {
    let Some(there) = folder.ancestors().find(|ancestor| ancestor.exists()) else { return };
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    let Ok(disk) = rustix::fs::statvfs(there) else { return };
    judge_disk(disk.f_bavail.saturating_mul(disk.f_frsize), findings);
}

fn judge_disk(free_bytes: u64, findings: &mut Findings) {
    let shown = format!("{:.1} GiB are free on its disk", free_bytes as f64 / (1024 * MIB) as f64);
    let next = "make room: a write that finds no space is refused, and items stay where they are";
    match free_bytes {
        free if free < FREE_PROBLEM_BYTES => findings.problem("disk", shown, next),
        free if free < FREE_WARNING_BYTES => findings.warning("disk", shown, next),
        _ => findings.ok("disk", shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Done;

    #[test]
    fn little_room_is_told_before_there_is_none() {
        for (mib, expected) in [(99, "problem"), (1_023, "warning"), (1_025, "1 ok")] {
            let mut findings = Findings::default();
            judge_disk(mib * MIB, &mut findings);
            assert!(findings.to_string().contains(expected), "{mib}: {findings}");
        }
        let mut findings = Findings::default();
        judge_disk(u64::MAX, &mut findings);
        assert!(matches!(findings.done(), Done::Yes));
    }
}
