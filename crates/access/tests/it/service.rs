//! What the service promises whatever the store: every rule in its order, who may do what, and what is remembered.

mod audit;
mod authentication;
mod caches;
mod contract;
mod fixture;
mod hostile;
mod lists;
mod matrix;
mod not_configured;
mod probe;
mod reach;
