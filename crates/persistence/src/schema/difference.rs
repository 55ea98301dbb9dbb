//! One way in which a database is not as wanted.

/// What is missing or other than wanted, such that the stores would fail or be unsafe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Difference {
    /// A table is not there.
    #[error("table {table} is missing")]
    MissingTable {
        /// The table.
        table: String,
    },
    /// A column is not there.
    #[error("table {table} lacks the column {column} {wanted}")]
    MissingColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// Its type.
        wanted: String,
    },
    /// A column has a type that does not hold what is written.
    #[error("column {column} of table {table} is {found}, not {wanted}")]
    OtherType {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The type that is needed.
        wanted: String,
        /// The type it has.
        found: String,
    },
    /// A column must be given that may be left out.
    #[error("column {column} of table {table} may not be null, but is left null")]
    NotNull {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A column has no default, and one is relied on.
    #[error("column {column} of table {table} has no default")]
    NoDefault {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A column that is not known here must be given.
    #[error("table {table} has a column {column} that must be given and is not known here")]
    UnknownColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// The primary key has other columns, or in another order.
    #[error("the primary key of table {table} is ({}), not ({})", .found.join(", "), .wanted.join(", "))]
    OtherPrimaryKey {
        /// The table.
        table: String,
        /// Its columns as they are needed.
        wanted: Vec<String>,
        /// Its columns as they are.
        found: Vec<String>,
    },
    /// No valid index on these columns.
    #[error("table {table} has no valid {}index on ({})", if *.is_unique { "unique " } else { "" }, .columns.join(", "))]
    MissingIndex {
        /// The table.
        table: String,
        /// The columns, in order.
        columns: Vec<String>,
        /// Whether it must be unique.
        is_unique: bool,
    },
    /// An index that was never built to its end. Writes pay for it, nothing uses it, and it promises nothing.
    #[error("index {index} of table {table} is not valid: drop it, and apply the schema again")]
    InvalidIndex {
        /// The table.
        table: String,
        /// The index.
        index: String,
    },
    /// The row that counts the changes of namespaces.
    #[error("table namespace_metadata lacks its row")]
    MissingSeed,
    /// No version is recorded, or one that is too old.
    #[error("the recorded version of the schema is {}, not {wanted} or later", .found.as_deref().unwrap_or("missing"))]
    OtherVersion {
        /// The oldest version that will do.
        wanted: &'static str,
        /// What is recorded.
        found: Option<String>,
    },
}

impl Difference {
    /// What kind of difference it is, for programs.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::MissingTable { .. } => "missing_table",
            Self::MissingColumn { .. } => "missing_column",
            Self::OtherType { .. } => "other_type",
            Self::NotNull { .. } => "not_null",
            Self::NoDefault { .. } => "no_default",
            Self::UnknownColumn { .. } => "unknown_column",
            Self::OtherPrimaryKey { .. } => "other_primary_key",
            Self::MissingIndex { .. } => "missing_index",
            Self::InvalidIndex { .. } => "invalid_index",
            Self::MissingSeed => "missing_row",
            Self::OtherVersion { .. } => "other_version",
        }
    }

    /// The table that it is about.
    #[must_use]
    pub fn table(&self) -> &str {
        match self {
            Self::MissingTable { table }
            | Self::MissingColumn { table, .. }
            | Self::OtherType { table, .. }
            | Self::NotNull { table, .. }
            | Self::NoDefault { table, .. }
            | Self::UnknownColumn { table, .. }
            | Self::OtherPrimaryKey { table, .. }
            | Self::MissingIndex { table, .. }
            | Self::InvalidIndex { table, .. } => table,
            Self::MissingSeed => "namespace_metadata",
            Self::OtherVersion { .. } => "schema_version",
        }
    }
}
