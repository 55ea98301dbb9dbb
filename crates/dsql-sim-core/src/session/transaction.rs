//! A transaction as its client sees it.

use std::time::Instant;

use crate::{
    config::Limits,
    engine::Build,
    failure::Failure,
    faults::Footprint,
    intents::Intent,
    rules::{AGE_LIMIT, Place, ROW_LIMIT, SIZE_LIMIT},
};

/// From BEGIN to its end. What it wrote is in the worker's log.
#[derive(Debug)]
pub(super) struct Transaction {
    /// Ends by itself with the query text it came from.
    pub(super) is_implicit: bool,
    /// An error was reported: nothing but its end is taken.
    pub(super) has_failed: bool,
    /// What BEGIN asked for, beside the isolation level.
    pub(super) is_read_only: bool,
    /// A conflict was found; COMMIT will tell.
    pub(super) is_doomed: bool,
    begun_at: Instant,
    /// Its place in the order of commits with intents; taken at its first statement.
    pub(super) snapshot: Option<u64>,
    /// The catalogue it knows.
    pub(super) version: u64,
    pub(super) tables: Vec<u32>,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) place: Place,
    pub(super) intents: Vec<Intent>,
    /// What its DDL changes: tables, or perhaps any.
    pub(super) changes: Option<Option<Vec<u32>>>,
    /// The build that goes on after its COMMIT.
    pub(super) build: Option<Build>,
    pub(super) footprints: Vec<Footprint>,
}

impl Transaction {
    pub(super) fn new(is_implicit: bool, is_read_only: bool, version: u64) -> Transaction {
        Transaction {
            is_implicit,
            has_failed: false,
            is_read_only,
            is_doomed: false,
            begun_at: Instant::now(),
            snapshot: None,
            version,
            tables: Vec::new(),
            rows: 0,
            bytes: 0,
            place: Place { in_transaction: true, ..Place::default() },
            intents: Vec::new(),
            changes: None,
            build: None,
            footprints: Vec::new(),
        }
    }

    /// What opens it at PostgreSQL.
    pub(super) fn begin_sql(&self) -> &'static str {
        if self.is_read_only {
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        } else {
            "BEGIN ISOLATION LEVEL REPEATABLE READ"
        }
    }

    pub(super) fn check_age(&self, limits: &Limits) -> Result<(), Failure> {
        if self.begun_at.elapsed() > limits.age {
            return Err(AGE_LIMIT.refusal("").into());
        }
        Ok(())
    }

    pub(super) fn check_bytes(&self, limits: &Limits) -> Result<(), Failure> {
        if self.bytes > limits.bytes {
            return Err(SIZE_LIMIT.refusal("").into());
        }
        Ok(())
    }

    pub(super) fn add_rows(&mut self, rows: u64, limits: &Limits) -> Result<(), Failure> {
        self.rows += rows;
        if self.rows > limits.rows {
            return Err(ROW_LIMIT.refusal("").into());
        }
        Ok(())
    }

    /// It has lost. What it wrote will never be seen, not even by itself: statements after a lost one are answered
    /// from the snapshot alone.
    pub(super) fn doom(&mut self) {
        self.is_doomed = true;
        self.intents.clear();
    }
}
