//! Arguments that no command takes, told on one line as every failure is.

use std::process::ExitCode;

/// What clap says, its tips and where to read more. Help and versions are printed as they are.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    eprintln!("{}", line(&error.to_string()));
    ExitCode::from(2)
}

/// Everything up to the usage on one line, and of the usage what has a help of its own.
fn line(shown: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut command = String::from("leasehold");
    for text in shown.lines().map(str::trim).filter(|text| !text.is_empty()) {
        if let Some(usage) = text.strip_prefix("Usage: ") {
            let words = usage.split(' ').skip(1);
            for word in words.take_while(|word| word.starts_with(|first: char| first.is_ascii_lowercase())) {
                command = format!("{command} {word}");
            }
            break;
        }
        if !text.starts_with("For more information") {
            parts.push(text.strip_prefix("tip: ").unwrap_or(text));
        }
    }
    let mut line = String::new();
    for part in parts {
        // A list follows its head.
        let between = if line.is_empty() || line.ends_with(':') { " " } else { "; " };
        line = format!("{line}{between}{part}");
    }
    format!("{}; see '{command} --help'", line.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistake_tip_and_help_are_on_one_line() {
        let shown = "error: unexpected argument '--stor' found\n\n  tip: a similar argument exists: '--store'\n\n\
                     Usage: leasehold serve --store <PATH|URL>\n\nFor more information, try '--help'.\n";
        assert_eq!(
            line(shown),
            "error: unexpected argument '--stor' found; a similar argument exists: '--store'; see 'leasehold serve --help'"
        );
        let shown = "error: the following required arguments were not provided:\n  <KEY>\n  <COMMAND>...\n\n\
                     Usage: leasehold lock run <KEY> -- <COMMAND>...\n\nFor more information, try '--help'.\n";
        assert_eq!(
            line(shown),
            "error: the following required arguments were not provided: <KEY>; <COMMAND>...; see 'leasehold lock run --help'"
        );
        let shown = "error: invalid value 'x' for '--ttl <DURATION>': no duration\n\nFor more information, try '--help'.\n";
        assert_eq!(
            line(shown),
            "error: invalid value 'x' for '--ttl <DURATION>': no duration; see 'leasehold --help'"
        );
    }
}
