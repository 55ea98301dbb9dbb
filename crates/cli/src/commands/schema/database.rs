use clap::{Args, ValueEnum};
use leasehold_txn::{Config, ConnectionString, Pool};

use crate::failure::Failure;

/// Which database, and how it is spoken to.
#[derive(Debug, Args)]
pub(super) struct Database {
    /// The database: postgres://…, dsql://…
    #[arg(
        long,
        visible_alias = "backend",
        value_name = "URL",
        env = "LEASEHOLD_BACKEND",
        hide_env_values = true
    )]
    store: String,

    /// What the database is, where its URL does not say so: a DSQL simulator behind postgres://
    #[arg(long, value_enum)]
    dialect: Option<Dialect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Dialect {
    Postgres,
    /// One statement per transaction
    Dsql,
}

impl From<Dialect> for leasehold_txn::Dialect {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Postgres => leasehold_txn::Dialect::POSTGRES,
            Dialect::Dsql => leasehold_txn::Dialect::DSQL,
        }
    }
}

impl Database {
    pub(super) fn pool(&self) -> Result<Pool, Failure> {
        let connection = ConnectionString::parse(&self.store)?;
        if connection.is_dsql() && self.dialect == Some(Dialect::Postgres) {
            return Err(Failure::input("dsql://… is no PostgreSQL: leave --dialect out"));
        }
        let config = Config::new(connection).size_max(2).application_name("leasehold schema");
        let config = match self.dialect {
            Some(dialect) => config.dialect(dialect.into()),
            None => config,
        };
        Ok(Pool::new(config)?)
    }
}
