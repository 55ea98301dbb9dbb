//! Index builds that go on after their statement: see [`Action::SlowIndexBuild`](crate::faults::Action).

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use tokio::sync::Mutex;

use super::Shared;
use crate::{catalogue::literal, failure::Failure};

/// An index that PostgreSQL has built and that does not count as built yet.
#[derive(Clone, Debug)]
pub(crate) struct Build {
    pub(crate) job_id: String,
    /// The fault that holds it up, for as long as it is armed.
    pub(crate) rule: String,
    pub(crate) until: Option<Instant>,
    /// The tables that look different once it has ended.
    pub(crate) tables: Vec<u32>,
}

#[derive(Default)]
pub(crate) struct Builds {
    /// How many there are, so that looking for none costs nothing.
    count: AtomicUsize,
    under_way: Mutex<Vec<Build>>,
}

impl Shared {
    pub(crate) async fn begin_build(&self, build: Build) {
        let mut under_way = self.builds.under_way.lock().await;
        under_way.push(build);
        self.builds.count.store(under_way.len(), Ordering::Release);
    }

    pub(crate) fn is_building(&self) -> bool {
        self.builds.count.load(Ordering::Acquire) > 0
    }

    /// Ends the builds whose time is over.
    pub(crate) async fn end_builds(&self) -> Result<(), Failure> {
        if !self.is_building() {
            return Ok(());
        }
        let mut under_way = self.builds.under_way.lock().await;
        let is_over = |build: &mut Build| {
            build.until.is_some_and(|until| until <= Instant::now()) || !self.faults.is_armed(&build.rule)
        };
        let over: Vec<Build> = under_way.extract_if(.., is_over).collect();
        for build in over {
            self.catalogue.ask(&ended(&build.job_id)).await?;
            self.catalogue.changed(Some(&build.tables));
        }
        self.builds.count.store(under_way.len(), Ordering::Release);
        Ok(())
    }
}

/// An index that was dropped meanwhile has cancelled its job.
fn ended(job_id: &str) -> String {
    format!(
        "WITH built AS (
             UPDATE pg_index SET indisvalid = true
              WHERE indexrelid = (SELECT object_id FROM sys.jobs WHERE job_id = {job_id})
             RETURNING indexrelid
         )
         UPDATE sys.jobs
            SET status = CASE WHEN EXISTS (SELECT FROM built) THEN 'completed' ELSE 'cancelled' END,
                details = '', update_time = now()
          WHERE job_id = {job_id}",
        job_id = literal(job_id)
    )
}
