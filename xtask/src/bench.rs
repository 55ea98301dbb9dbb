//! The benchmarks of `bench/`: one binary each, release build, ratios in one run. A whole group, such as `queue` for
//! every `queue-…`, is also written down.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::Outcome;
use crate::cargo::{cargo, show, tee};
use crate::source;

const DOCUMENT: &str = "docs/benchmarks.md";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (names, passed_on) = match arguments.iter().position(|argument| argument == "--") {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, &[][..]),
    };
    let known = known();
    if names.is_empty() {
        return known.iter().try_for_each(|name| measure(name, passed_on));
    }
    for name in names {
        if known.contains(name) {
            measure(name, passed_on)?;
            continue;
        }
        let members: Vec<&String> = known.iter().filter(|known| is_member(name, known)).collect();
        if members.is_empty() {
            return Err(format!("no benchmark is called '{name}'; there are: {}", known.join(", ")));
        }
        write_down(name, &members, passed_on)?;
    }
    Ok(())
}

fn measure(name: &str, passed_on: &[String]) -> Outcome {
    prepare(name)?;
    show(name, &mut command(name, passed_on))
}

/// What measures the real binary needs it beside itself.
fn prepare(name: &str) -> Outcome {
    match is_member("server", name) {
        true => {
            show("leasehold", cargo().args(["build", "--release", "--locked", "--package", "leasehold-cli"]))
        }
        false => Ok(()),
    }
}

fn command(name: &str, passed_on: &[String]) -> std::process::Command {
    let mut command = cargo();
    command.args(["run", "--release", "--locked", "--package", "leasehold-bench", "--bin", name, "--"]);
    command.args(passed_on).env("LEASEHOLD_INSTALL", "1");
    command
}

fn known() -> Vec<String> {
    let names = source::files(&source::root().join("bench/src/bin"), &[".rs"]);
    names.iter().filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect()
}

/// Those beside other people's programs are a group of their own: they take long, and have much to install.
fn is_member(group: &str, name: &str) -> bool {
    match name.strip_suffix("-peers") {
        Some(_) => group == "peers",
        None => name.strip_prefix(group).is_some_and(|rest| rest.starts_with('-')),
    }
}

/// Runs a group and puts what it printed into the document, in the place of the run before.
fn write_down(group: &str, members: &[&String], passed_on: &[String]) -> Outcome {
    let mut section = format!("## `cargo xtask bench {group}`, {}\n\nMachine: {}.\n", today(), machine());
    for name in members {
        prepare(name)?;
        let printed = tee(name, &mut command(name, passed_on))?;
        let arguments = passed_on.iter().map(|argument| format!(" {argument}")).collect::<String>();
        section += &format!("\n`{name}{arguments}`\n\n{}\n", paragraphs(&printed));
    }
    let path = source::root().join(DOCUMENT);
    let failed = |error: std::io::Error| format!("cannot write {DOCUMENT}: {error}");
    let document = fs::read_to_string(&path).map_err(failed)?;
    fs::write(&path, with_section(&document, group, &section)).map_err(failed)?;
    println!("\nwritten to {DOCUMENT}");
    Ok(())
}

/// Tables as they are; a line of text becomes a paragraph, so that a table may follow it.
fn paragraphs(printed: &str) -> String {
    let mut text = String::new();
    let mut in_table = false;
    for line in printed.lines().map(str::trim_end) {
        let is_row = line.starts_with('|');
        if !text.is_empty() && (is_row != in_table || !is_row) && !text.ends_with("\n\n") {
            text.push('\n');
        }
        in_table = is_row;
        text += line;
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

fn with_section(document: &str, group: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- bench {group} -->\n"), format!("<!-- end of bench {group} -->\n"));
    match (document.find(&begin), document.find(&end)) {
        (Some(from), Some(to)) if from < to => {
            format!("{}{begin}{section}{}", &document[..from], &document[to..])
        }
        _ => format!("{}\n\n{begin}{section}{end}", document.trim_end()),
    }
}

/// The processor and how many of it.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!("{cores} × {}", model.map_or(std::env::consts::ARCH, |(_, name)| name))
}

fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = date(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of so many days after 1970-01-01.
fn date(days: u64) -> (u64, u64, u64) {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut left) = (1970, days);
    while left >= 365 + u64::from(is_leap(year)) {
        left -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    (year, month, left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_has_the_benchmarks_of_its_name_and_no_others() {
        assert!(is_member("queue", "queue-engine"));
        assert!(!is_member("queue", "queue"));
        assert!(!is_member("que", "queue-engine"));
        assert!(is_member("peers", "queue-peers"));
        assert!(!is_member("queue", "queue-peers"));
    }

    #[test]
    fn section_takes_the_place_of_the_one_before() {
        let first = with_section("# Benchmarks\n", "queue", "one\n");
        assert_eq!(first, "# Benchmarks\n\n<!-- bench queue -->\none\n<!-- end of bench queue -->\n");
        let followed = format!("{first}\nmore\n");
        let second = with_section(&followed, "queue", "two\n");
        assert_eq!(second, followed.replace("one", "two"));
    }

    #[test]
    fn tables_keep_their_lines_together() {
        assert_eq!(paragraphs("title\n| a |\n| b |\nend\n"), "title\n\n| a |\n| b |\n\nend\n");
    }

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(59), (1970, 3, 1));
        assert_eq!(date(19_782), (2024, 2, 29));
        assert_eq!(date(20_453), (2025, 12, 31));
        assert_eq!(date(20_772), (2026, 11, 15));
    }
}
