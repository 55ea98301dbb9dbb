//! Asynchronous jobs. PostgreSQL does the work with the statement; the job only says how it went, unless a fault lets it
//! fail or go on.

use std::time::{Duration, Instant};

use sqlparser::ast::CreateIndex;

use super::Session;
use crate::{
    catalogue::literal,
    engine::Build,
    failure::{Answered, Failure},
    faults::{Footprint, Point, Verdict},
    plan::Plan,
    rules::{Parsed, Statement},
};

const ID_LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const ID_LENGTH: usize = 26;

/// How long `sys.wait_for_job` waits for a build that goes on before it answers false. A cluster waits longer.
const WAIT: Duration = Duration::from_millis(10);
const NEXT_LOOK: Duration = Duration::from_millis(1);

/// Keeps the newest index, so that the one that is made next can be told from all others.
const MARK: &str = "SELECT set_config('leasehold.newest_index', (SELECT coalesce(max(indexrelid), 0)::text FROM pg_index), true)";
const IS_NEW: &str = "indexrelid > current_setting('leasehold.newest_index')::oid";

/// One job, and how it ends.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) id: String,
    fate: Fate,
}

#[derive(Clone, Debug)]
enum Fate {
    Succeeds,
    GoesOn {
        rule: String,
        time: Option<Duration>,
    },
    /// For this reason; an index stays invalid.
    Fails(String),
    /// The same, where PostgreSQL does not let the simulator mark an index as invalid: there is none.
    FailsWithoutIndex(String),
}

/// The statements that are one job.
pub(super) struct JobSteps {
    pub(super) before: Vec<String>,
    pub(super) statement: Option<String>,
    pub(super) after: Vec<String>,
}

impl Session {
    pub(super) fn new_job(&self, plan: &Plan) -> Job {
        let verdict = match &plan.parsed.statement {
            Statement::CreateIndex(_) => {
                self.shared().faults.decide(Point::IndexBuild, &[Footprint::of(&plan.parsed)])
            }
            _ => None,
        };
        let fate = match verdict {
            Some(Verdict::FailBuild) => Fate::Fails("the build of the index failed".to_owned()),
            Some(Verdict::SlowBuild { rule, time }) => Fate::GoesOn { rule, time },
            _ => Fate::Succeeds,
        };
        Job { id: new_id(), fate }
    }

    /// `sys.wait_for_job`, up to its answer.
    pub(super) async fn wait_for_builds(&self) -> Answered<()> {
        let asked = Instant::now();
        while self.shared().is_building() && asked.elapsed() < WAIT {
            tokio::time::sleep(NEXT_LOOK).await;
            self.shared().end_builds().await?;
        }
        Ok(())
    }
}

impl Job {
    /// The same job when PostgreSQL has refused its work; nothing where that is an answer to the statement.
    pub(super) fn after(&self, failure: &Failure) -> Option<Job> {
        let fate = match &self.fate {
            Fate::Succeeds | Fate::GoesOn { .. } if failure.is_broken_constraint() => {
                Fate::Fails(failure.message().to_owned())
            }
            Fate::Fails(reason) if failure.sqlstate() == "42501" => Fate::FailsWithoutIndex(reason.clone()),
            _ => return None,
        };
        Some(Job { id: self.id.clone(), fate })
    }

    /// The build that goes on.
    pub(super) fn build(&self, tables: &[u32]) -> Option<Build> {
        let Fate::GoesOn { rule, time } = &self.fate else { return None };
        let until = time.map(|time| Instant::now() + time);
        Some(Build { job_id: self.id.clone(), rule: rule.clone(), until, tables: tables.to_vec() })
    }

    pub(super) fn steps(&self, parsed: &Parsed, sql: &str) -> JobSteps {
        match &parsed.statement {
            Statement::CreateIndex(index) => self.steps_of_index(index, sql),
            other => {
                let (status, details) = match &self.fate {
                    Fate::Fails(reason) | Fate::FailsWithoutIndex(reason) => ("failed", reason.as_str()),
                    Fate::Succeeds | Fate::GoesOn { .. } => ("completed", ""),
                };
                let name = match other {
                    Statement::AlterTable(table) => table.name.to_string(),
                    _ => String::new(),
                };
                JobSteps {
                    before: Vec::new(),
                    statement: (status == "completed").then(|| sql.to_owned()),
                    after: vec![self.listed_alone("VALIDATE_CONSTRAINT", status, details, &name)],
                }
            }
        }
    }

    /// A cluster lists a build that failed as completed, with the reason in its details.
    fn steps_of_index(&self, index: &CreateIndex, sql: &str) -> JobSteps {
        let before = vec![MARK.to_owned()];
        match &self.fate {
            Fate::Succeeds => JobSteps {
                before,
                statement: Some(sql.to_owned()),
                after: vec![self.listed("completed", "''", "now()")],
            },
            Fate::GoesOn { .. } => JobSteps {
                before,
                statement: Some(sql.to_owned()),
                after: vec![
                    format!("UPDATE pg_index SET indisvalid = false WHERE {IS_NEW}"),
                    self.listed("processing", "NULL", "NULL"),
                ],
            },
            Fate::Fails(reason) => JobSteps {
                before,
                // What cannot be built is made without the rule that its rows break, and then neither used nor kept.
                statement: Some(
                    CreateIndex { unique: false, r#async: false, using: None, ..index.clone() }.to_string(),
                ),
                after: vec![
                    format!(
                        "UPDATE pg_index SET indisvalid = false, indisready = false, indisunique = {} WHERE {IS_NEW}",
                        index.unique
                    ),
                    self.listed("completed", &literal(reason), "now()"),
                ],
            },
            Fate::FailsWithoutIndex(reason) => {
                let name = index.name.as_ref().map(ToString::to_string).unwrap_or_default();
                let listed = self.listed_alone("INDEX_BUILD", "completed", reason, &name);
                JobSteps { before: Vec::new(), statement: None, after: vec![listed] }
            }
        }
    }

    /// Lists the job of the index that was made; none where it was there already.
    fn listed(&self, status: &str, details: &str, update_time: &str) -> String {
        format!(
            "INSERT INTO sys.jobs (job_id, status, details, job_type, class_id, object_id, object_name, update_time)
             SELECT {}, '{status}', {details}, 'INDEX_BUILD', 'pg_class'::regclass::oid, made.oid,
                    nspname || '.' || relname, {update_time}
               FROM pg_index JOIN pg_class AS made ON made.oid = indexrelid
               JOIN pg_namespace ON pg_namespace.oid = relnamespace
              WHERE {IS_NEW}",
            literal(&self.id)
        )
    }

    fn listed_alone(&self, job_type: &str, status: &str, details: &str, name: &str) -> String {
        format!(
            "INSERT INTO sys.jobs (job_id, status, details, job_type, object_name, update_time)
             VALUES ({}, '{status}', {}, '{job_type}', {}, now())",
            literal(&self.id),
            literal(details),
            literal(name)
        )
    }
}

/// 16 bytes in base32: the last letter carries three bits.
fn new_id() -> String {
    let mut bytes = [0; ID_LENGTH];
    let _ = getrandom::fill(&mut bytes);
    bytes[ID_LENGTH - 1] &= 0b11100;
    bytes.iter().map(|byte| char::from(ID_LETTERS[usize::from(byte % 32)])).collect()
}

#[cfg(test)]
mod tests {
    use super::new_id;

    #[test]
    fn job_id_is_sixteen_bytes_in_base32() {
        let id = new_id();
        assert_eq!(id.len(), 26);
        let is_letter = |letter: u8| letter.is_ascii_lowercase() || (b'2'..=b'7').contains(&letter);
        assert!(id.bytes().all(is_letter), "{id}");
        assert!(id.ends_with(|last| "aeimquy4".contains(last)), "{id}");
        assert_ne!(id, new_id());
    }
}
