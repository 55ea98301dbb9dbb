//! The tests of the binary, in one program: each further program would link the whole product once more.

mod access;
mod audit;
#[cfg(feature = "dsql-sim")]
mod commands;
mod diagnosis;
mod doctor;
#[cfg(feature = "dsql-sim")]
mod doctor_on_dsql;
mod doctor_on_postgres;
mod document;
#[cfg(feature = "dsql-sim")]
mod dsql;
#[cfg(feature = "dsql-sim")]
mod dsql_lint;
#[cfg(feature = "firestore")]
mod firestore;
mod foreign_clients;
mod image;
mod killed;
mod lock;
mod monitored;
mod newcomer;
mod ops;
mod ops_tools;
mod over_http2;
mod overload;
mod overload_on_postgres;
mod overloading;
mod pooled;
mod postgres;
mod querator;
mod queue;
mod readme;
mod redis;
mod rolled;
mod serve;
mod served;
#[cfg(feature = "dsql-sim")]
mod simulated;
mod state_commands;
mod strangers;
mod top;
mod transfer;
