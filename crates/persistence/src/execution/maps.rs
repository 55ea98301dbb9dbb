//! What a run keeps by id, a table for each kind.

use std::collections::{BTreeMap, BTreeSet};

use super::chasm::{ChasmNode, ChasmPath};
use super::key::check_name;
use crate::sql::Sql;
use crate::{Blob, Result};

/// Entries of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maps {
    /// Activities, by the event that scheduled them.
    pub activities: BTreeMap<i64, Blob>,
    /// Timers, by name.
    pub timers: BTreeMap<String, Blob>,
    /// Child executions, by the event that initiated them.
    pub children: BTreeMap<i64, Blob>,
    /// Cancellations of other executions, by the event that initiated them.
    pub request_cancels: BTreeMap<i64, Blob>,
    /// Signals to other executions, by the event that initiated them.
    pub signals: BTreeMap<i64, Blob>,
    /// The requests whose signals were taken in.
    pub signals_requested: BTreeSet<String>,
    /// Components.
    pub chasm_nodes: BTreeMap<ChasmPath, ChasmNode>,
}

impl Maps {
    pub(super) fn check(&self) -> Result<()> {
        self.timers.keys().try_for_each(|id| check_name("timer_id", id))?;
        self.signals_requested.iter().try_for_each(|id| check_name("signal_id", id))
    }
}

/// Entries of a run that go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapKeys {
    /// Activities.
    pub activities: BTreeSet<i64>,
    /// Timers.
    pub timers: BTreeSet<String>,
    /// Child executions.
    pub children: BTreeSet<i64>,
    /// Cancellations of other executions.
    pub request_cancels: BTreeSet<i64>,
    /// Signals to other executions.
    pub signals: BTreeSet<i64>,
    /// The requests whose signals need not be known any more.
    pub signals_requested: BTreeSet<String>,
    /// Components.
    pub chasm_nodes: BTreeSet<ChasmPath>,
}

impl MapKeys {
    pub(super) fn check(&self) -> Result<()> {
        self.timers.iter().try_for_each(|id| check_name("timer_id", id))?;
        self.signals_requested.iter().try_for_each(|id| check_name("signal_id", id))
    }
}

/// The statements of a table.
pub(super) struct MapTable {
    pub(super) upsert: Sql,
    pub(super) delete: Sql,
    pub(super) retain: Sql,
    pub(super) delete_some: Sql,
    pub(super) select: Sql,
}

pub(super) const ACTIVITIES: MapTable = MapTable {
    upsert: Sql::same(include_str!("sql/upsert_activities.sql")),
    delete: Sql::same(include_str!("sql/delete_activities.sql")),
    retain: Sql::same(include_str!("sql/retain_activities.sql")),
    delete_some: Sql::same(include_str!("sql/delete_some_activities.sql")),
    select: Sql::same(include_str!("sql/select_activities.sql")),
};
pub(super) const TIMERS: MapTable = MapTable {
    upsert: Sql::same(include_str!("sql/upsert_timers.sql")),
    delete: Sql::same(include_str!("sql/delete_timers.sql")),
    retain: Sql::same(include_str!("sql/retain_timers.sql")),
    delete_some: Sql::same(include_str!("sql/delete_some_timers.sql")),
    select: Sql::same(include_str!("sql/select_timers.sql")),
};
pub(super) const CHILDREN: MapTable = MapTable {
    upsert: Sql::same(include_str!("sql/upsert_children.sql")),
    delete: Sql::same(include_str!("sql/delete_children.sql")),
    retain: Sql::same(include_str!("sql/retain_children.sql")),
    delete_some: Sql::same(include_str!("sql/delete_some_children.sql")),
    select: Sql::same(include_str!("sql/select_children.sql")),
};
pub(super) const REQUEST_CANCELS: MapTable = MapTable {
    upsert: Sql::same(include_str!("sql/upsert_request_cancels.sql")),
    delete: Sql::same(include_str!("sql/delete_request_cancels.sql")),
    retain: Sql::same(include_str!("sql/retain_request_cancels.sql")),
    delete_some: Sql::same(include_str!("sql/delete_some_request_cancels.sql")),
    select: Sql::same(include_str!("sql/select_request_cancels.sql")),
};
pub(super) const SIGNALS: MapTable = MapTable {
    upsert: Sql::same(include_str!("sql/upsert_signals.sql")),
    delete: Sql::same(include_str!("sql/delete_signals.sql")),
    retain: Sql::same(include_str!("sql/retain_signals.sql")),
    delete_some: Sql::same(include_str!("sql/delete_some_signals.sql")),
    select: Sql::same(include_str!("sql/select_signals.sql")),
};
pub(super) const SIGNALS_REQUESTED: MapTable = MapTable {
    upsert: Sql::same(include_str!("sql/upsert_signals_requested.sql")),
    delete: Sql::same(include_str!("sql/delete_signals_requested.sql")),
    retain: Sql::same(include_str!("sql/retain_signals_requested.sql")),
    delete_some: Sql::same(include_str!("sql/delete_some_signals_requested.sql")),
    select: Sql::same(include_str!("sql/select_signals_requested.sql")),
};
pub(super) const CHASM_NODES: MapTable = MapTable {
    upsert: Sql {
        postgres: include_str!("sql/upsert_chasm_nodes.postgres.sql"),
        dsql: include_str!("sql/upsert_chasm_nodes.dsql.sql"),
    },
    delete: Sql {
        postgres: include_str!("sql/delete_chasm_nodes.postgres.sql"),
        dsql: include_str!("sql/delete_chasm_nodes.dsql.sql"),
    },
    retain: Sql {
        postgres: include_str!("sql/retain_chasm_nodes.postgres.sql"),
        dsql: include_str!("sql/retain_chasm_nodes.dsql.sql"),
    },
    delete_some: Sql::same(include_str!("sql/delete_some_chasm_nodes.sql")),
    select: Sql::same(include_str!("sql/select_chasm_nodes.sql")),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_bounded_by_their_column() {
        let long = "x".repeat(256);
        let timers = BTreeMap::from([(long.clone(), Blob::proto3(vec![]))]);
        assert!(Maps { timers, ..Maps::default() }.check().is_err());
        assert!(Maps { signals_requested: [long.clone()].into(), ..Maps::default() }.check().is_err());
        assert!(MapKeys { timers: [long.clone()].into(), ..MapKeys::default() }.check().is_err());
        assert!(MapKeys { signals_requested: [long].into(), ..MapKeys::default() }.check().is_err());
    }
}
