//! DDL: one per transaction, done at COMMIT, pushing aside whoever has read the tables it changes.

use bytes::{BufMut, Bytes, BytesMut};

use super::{
    Session,
    commit::PATIENCE,
    job::{Job, JobSteps},
    transaction::Transaction,
};
use crate::{
    backend::{Call, Outcome},
    engine::{Entry, Mode, Push, UNDO, Work, Worker},
    failure::{Answered, Failure},
    plan::{Action, Plan},
    rules::{Parsed, Statement},
};

/// The type `text`.
const TEXT: u32 = 25;

/// What a DDL statement is at PostgreSQL.
struct Steps {
    calls: Vec<Call>,
    /// The call that is the statement itself.
    tag_at: usize,
    job: Option<Job>,
}

impl Session {
    /// Inside a transaction: tried now, so that its errors are told now, and done at COMMIT.
    pub(super) async fn ddl(
        &mut self,
        worker: &mut Worker,
        transaction: &mut Transaction,
        plan: &Plan,
    ) -> Result<Outcome, Failure> {
        let Steps { calls, tag_at, job } = self.steps_of(plan);
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
        let outcomes = performed.outcomes;
        let mut tags = outcomes.iter().map(|outcome| outcome.tag.clone());
        for call in calls {
            worker.log.push(Entry { call, tag: tags.next().flatten() });
        }
        transaction.changes = Some(changes(plan));
        Ok(answer(plan, transaction, job, tag_at, &outcomes))
    }

    /// By itself: done at once.
    pub(super) async fn ddl_alone(&mut self, plan: &Plan, mut transaction: Transaction) -> Answered<Outcome> {
        let mut steps = self.steps_of(plan);
        transaction.changes = Some(changes(plan));
        let seat = self.seat.clone();
        let mut worker = seat.worker.lock().await;
        let prelude = format!("{}; {PATIENCE}", transaction.begin_sql());
        let outcomes = loop {
            worker.mode = Mode::Live;
            let work = Work { prelude: &prelude, calls: &steps.calls, ..Work::default() };
            let performed =
                self.shared().push_through(&seat, Push::Tables, &[], worker.perform(work)).await?;
            self.asides.extend(performed.asides);
            let Some(failure) = performed.failure else { break performed.outcomes };
            worker.roll_back().await?;
            if failure.is_catalogue_race() {
                return Err(Failure::schema_conflict().into());
            }
            let Some(job) = steps.job.as_ref().and_then(|job| job.after(&failure)) else {
                return Err(failure.into());
            };
            steps = steps_with(plan, Some(job));
        };
        let answered = answer(plan, &mut transaction, steps.job, steps.tag_at, &outcomes);
        self.commit_transaction(&mut worker, transaction).await?;
        Ok(answered)
    }

    fn steps_of(&self, plan: &Plan) -> Steps {
        let makes_job = matches!(plan.action, Action::Ddl { makes_job: true, .. });
        steps_with(plan, makes_job.then(|| self.new_job(plan)))
    }
}

fn steps_with(plan: &Plan, job: Option<Job>) -> Steps {
    let Action::Ddl { sql: Some(sql), .. } = &plan.action else {
        return Steps { calls: Vec::new(), tag_at: 0, job };
    };
    let Some(job) = job else { return Steps { calls: vec![Call::text(sql)], tag_at: 0, job: None } };
    let JobSteps { before, statement, after } = job.steps(&plan.parsed, sql);
    let tag_at = before.len();
    let texts = before.into_iter().chain(statement).chain(after);
    Steps { calls: texts.map(|sql| Call::text(&sql)).collect(), tag_at, job: Some(job) }
}

/// What it changes: tables, or perhaps any.
fn changes(plan: &Plan) -> Option<Vec<u32>> {
    match &plan.action {
        Action::Ddl { changes, .. } => changes.clone(),
        _ => None,
    }
}

/// The id of the job, where one was made: an index that was there already makes none.
fn answer(
    plan: &Plan,
    transaction: &mut Transaction,
    job: Option<Job>,
    tag_at: usize,
    outcomes: &[Outcome],
) -> Outcome {
    let tag = outcomes.get(tag_at).and_then(|outcome| outcome.tag.clone());
    let tag = tag.filter(|tag| !tag.starts_with("INSERT")).unwrap_or_else(|| spoken(&plan.parsed));
    let Some(job) = job else { return Outcome::tagged(tag) };
    let mut answer = Outcome { description: Some(job_description()), rows: Vec::new(), tag: Some(tag) };
    // The job is the last that is written.
    if outcomes.last().is_none_or(|listed| listed.affected() > 0) {
        let mut row = BytesMut::new();
        row.put_u16(1);
        row.put_u32(u32::try_from(job.id.len()).unwrap_or(0));
        row.put_slice(job.id.as_bytes());
        answer.rows.push(row.freeze());
        transaction.build = job.build(&plan.tables);
    }
    answer
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
    use super::spoken;
    use crate::rules::parse;

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
