//! The throw-away servers and the fault proxy, in one program.

mod firestore;
mod owner;
mod postgres;
mod proxy;
mod redis;
mod redis_cluster;
