//! What the service promises whatever the store: every rule in its order, who may do what, and what is remembered.

#[path = "service/audit.rs"]
mod audit;
#[path = "service/authentication.rs"]
mod authentication;
#[path = "service/caches.rs"]
mod caches;
#[path = "service/contract.rs"]
mod contract;
#[path = "service/fixture.rs"]
mod fixture;
#[path = "service/hostile.rs"]
mod hostile;
#[path = "service/lists.rs"]
mod lists;
#[path = "service/matrix.rs"]
mod matrix;
#[path = "service/not_configured.rs"]
mod not_configured;
#[path = "service/probe.rs"]
mod probe;
