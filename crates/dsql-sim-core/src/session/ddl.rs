//! DDL: one per transaction, done at COMMIT, pushing aside whoever has read the tables it changes.

use bytes::{BufMut, Bytes, BytesMut};

use super::{Session, commit::PATIENCE, transaction::Transaction};
use crate::{
    backend::{Call, Outcome},
    catalogue::literal,
    engine::{Entry, Mode, Push, UNDO, Work, Worker},
    failure::{Answered, Failure},
    plan::{Action, Plan},
    rules::{Parsed, Statement},
};

const JOB_ID_LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const JOB_ID_LENGTH: usize = 26;
/// The type `text`.
const TEXT: u32 = 25;

impl Session {
    /// Inside a transaction: tried now, so that its errors are told now, and done at COMMIT.
    pub(super) async fn ddl(
        &mut self,
        worker: &mut Worker,
        transaction: &mut Transaction,
        plan: &Plan,
    ) -> Result<Outcome, Failure> {
        let (calls, job_id, changes) = calls(plan);
        transaction.place.ddl_done = true;
        let begin = if worker.mode == Mode::Idle { transaction.begin_sql() } else { "" };
        let base = if worker.has_base { "" } else { "SAVEPOINT base" };
        let prelude = [begin, base, "SET LOCAL lock_timeout = 100"];
        let prelude = prelude.into_iter().filter(|sql| !sql.is_empty()).collect::<Vec<_>>().join("; ");
        let work = Work { prelude: &prelude, calls: &calls, epilogue: UNDO, ..Work::default() };
        let performed = worker.perform(work).await?;
        worker.mode = Mode::Deferred;
        worker.has_base = true;
        self.asides.extend(performed.asides);
        if let Some(failure) = performed.failure
            && !failure.is_collision()
        {
            return Err(failure);
        }
        let mut tags = performed.outcomes.iter().map(|outcome| outcome.tag.clone());
        for call in calls {
            worker.log.push(Entry { call, tag: tags.next().flatten() });
        }
        transaction.changes = Some(changes);
        let tag = performed.outcomes.first().and_then(|outcome| outcome.tag.clone());
        Ok(answer(job_id, tag.unwrap_or_else(|| spoken(&plan.parsed))))
    }

    /// By itself: done at once.
    pub(super) async fn ddl_alone(&mut self, plan: &Plan, mut transaction: Transaction) -> Answered<Outcome> {
        let (calls, job_id, changes) = calls(plan);
        transaction.changes = Some(changes);
        let seat = self.seat.clone();
        let mut worker = seat.worker.lock().await;
        let prelude = format!("{}; {PATIENCE}", transaction.begin_sql());
        worker.mode = Mode::Live;
        let work = Work { prelude: &prelude, calls: &calls, ..Work::default() };
        let performed = self.shared().push_through(&seat, Push::Tables, &[], worker.perform(work)).await?;
        self.asides.extend(performed.asides);
        if let Some(failure) = performed.failure {
            worker.roll_back().await?;
            return match job_id {
                _ if failure.is_catalogue_race() => Err(Failure::schema_conflict().into()),
                Some(job_id) if failure.is_broken_constraint() => {
                    let call = job(&job_id, "failed", failure.message(), &plan.parsed);
                    worker.perform(Work { calls: &[call], ..Work::default() }).await?;
                    Ok(answer(Some(job_id), spoken(&plan.parsed)))
                }
                _ => Err(failure.into()),
            };
        }
        let tag = performed.outcomes.first().and_then(|outcome| outcome.tag.clone());
        self.commit_transaction(&mut worker, transaction).await?;
        Ok(answer(job_id, tag.unwrap_or_else(|| spoken(&plan.parsed))))
    }
}

type Changes = Option<Vec<u32>>;

/// What to run, the id of the job where it makes one, and what it changes.
fn calls(plan: &Plan) -> (Vec<Call>, Option<String>, Changes) {
    let Action::Ddl { sql, changes, makes_job, .. } = &plan.action else {
        return (Vec::new(), None, None);
    };
    let mut calls: Vec<Call> = sql.iter().map(|sql| Call::text(sql)).collect();
    let job_id = makes_job.then(new_job_id);
    if let Some(job_id) = &job_id {
        calls.push(job(job_id, "completed", "", &plan.parsed));
    }
    (calls, job_id, changes.clone())
}

/// The work is done by the time its job is listed.
fn job(job_id: &str, status: &str, details: &str, parsed: &Parsed) -> Call {
    let job_type = match parsed.statement {
        Statement::AlterTable(_) => "VALIDATE_CONSTRAINT",
        _ => "INDEX_BUILD",
    };
    Call::text(&format!(
        "INSERT INTO sys.jobs (job_id, status, details, job_type, object_name) VALUES ({}, {}, {}, {}, {})",
        literal(job_id),
        literal(status),
        literal(details),
        literal(job_type),
        literal(&parsed.sql)
    ))
}

fn answer(job_id: Option<String>, tag: String) -> Outcome {
    let Some(job_id) = job_id else { return Outcome::tagged(tag) };
    let mut row = BytesMut::new();
    row.put_u16(1);
    row.put_u32(u32::try_from(job_id.len()).unwrap_or(0));
    row.put_slice(job_id.as_bytes());
    Outcome { description: Some(job_description()), rows: vec![row.freeze()], tag: Some(tag) }
}

/// The RowDescription of the one column that what makes a job gives.
pub(super) fn job_description() -> Bytes {
    let mut body = BytesMut::new();
    body.put_u16(1);
    body.put_slice(b"job_id\0");
    body.put_u32(0);
    body.put_u16(0);
    body.put_u32(TEXT);
    body.put_i16(-1);
    body.put_i32(-1);
    body.put_i16(0);
    body.freeze()
}

fn new_job_id() -> String {
    let mut bytes = [0; JOB_ID_LENGTH];
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|byte| char::from(JOB_ID_LETTERS[usize::from(byte % 32)])).collect()
}

/// The tag of a DDL that PostgreSQL did not answer: that of its kind, else its first two words.
fn spoken(parsed: &Parsed) -> String {
    match &parsed.statement {
        Statement::CreateIndex(_) => "CREATE INDEX".into(),
        Statement::AwsIamGrant { .. } => "AWS IAM GRANT".into(),
        Statement::AwsIamRevoke { .. } => "AWS IAM REVOKE".into(),
        other => other.to_string().split_whitespace().take(2).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::{new_job_id, spoken};
    use crate::rules::parse;

    #[test]
    fn job_id_is_26_letters_of_base32() {
        let id = new_job_id();
        assert_eq!(id.len(), 26);
        assert!(
            id.bytes().all(|letter| letter.is_ascii_lowercase() || (b'2'..=b'7').contains(&letter)),
            "{id}"
        );
        assert_ne!(id, new_job_id());
    }

    #[test]
    fn tag_of_an_untried_ddl_is_that_of_its_kind() {
        for (sql, tag) in [
            ("/* op=Add */ alter  table t add x int", "ALTER TABLE"),
            ("CREATE UNIQUE INDEX ASYNC i ON t (a)", "CREATE INDEX"),
            ("AWS IAM GRANT r TO 'arn:aws:iam::123456789012:role/x'", "AWS IAM GRANT"),
        ] {
            assert_eq!(spoken(&parse(sql).unwrap()[0]), tag, "{sql}");
        }
    }
}
