//! The words of `cargo xtask test`.

use crate::source;

use super::plan::Wanted;

const SLOWEST: usize = 5;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Empty: the whole workspace.
    pub(super) packages: Vec<String>,
    /// Empty: whatever the machine can run.
    pub(super) groups: Vec<String>,
    /// A part of the names of the wanted tests.
    pub(super) filter: Option<String>,
    pub(super) changed_since: Option<String>,
    pub(super) slowest: usize,
}

impl Options {
    pub(super) fn wanted(&self) -> Wanted {
        Wanted { groups: self.groups.clone(), filter: self.filter.clone(), is_long: false }
    }
}

/// The groups of tests that need something beside cargo. A test names its group in the reason of its `#[ignore]`.
pub(super) const GROUPS: [&str; 7] = ["postgres", "dsql", "redis", "firestore", "temporal", "clients", "ops"];

pub(super) fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options { slowest: SLOWEST, ..Options::default() };
    let mut arguments = arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--" => {
                let filter = arguments.next().ok_or("-- needs a part of a test's name behind it")?;
                options.filter = Some(filter.clone());
                if let Some(more) = arguments.next() {
                    return Err(format!("only one filter is taken, not '{more}' too"));
                }
            }
            "--changed" => {
                let revision = arguments.next_if(|next| !next.starts_with('-'));
                options.changed_since = Some(revision.cloned().unwrap_or_else(|| "HEAD".to_owned()));
            }
            "--slowest" => {
                let count = arguments.next().and_then(|count| count.parse().ok());
                options.slowest = count.ok_or("--slowest needs a whole number")?;
            }
            name if GROUPS.contains(&name) => options.groups.push(name.to_owned()),
            name => match source::package(name) {
                Some(package) => options.packages.push(package),
                None => {
                    return Err(format!(
                        "no crate and no group is called '{name}'; groups: {}",
                        GROUPS.join(", ")
                    ));
                }
            },
        }
    }
    if options.changed_since.is_some() && !options.packages.is_empty() {
        return Err("--changed selects the crates; name none beside it".to_owned());
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn crates_and_groups_are_told_apart() {
        let options = parsed("locks xtask postgres --slowest 20 -- attack::lost").unwrap();
        assert_eq!(options.packages, ["leasehold-locks", "xtask"]);
        assert_eq!(options.groups, ["postgres"]);
        assert_eq!((options.filter.as_deref(), options.slowest), (Some("attack::lost"), 20));
    }

    #[test]
    fn changed_may_name_a_revision() {
        assert_eq!(parsed("--changed").unwrap().changed_since.as_deref(), Some("HEAD"));
        assert_eq!(parsed("--changed HEAD~3").unwrap().changed_since.as_deref(), Some("HEAD~3"));
        assert_eq!(parsed("--changed --slowest 1").unwrap().changed_since.as_deref(), Some("HEAD"));
    }

    #[test]
    fn bad_words_are_refused() {
        for bad in ["lokcs", "--slowest", "--slowest x", "--", "-- a b", "--changed HEAD locks"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
