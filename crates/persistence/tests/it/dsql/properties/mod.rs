//! What holds for every write of every store, on DSQL simulated: a file per property.

mod classes;
mod conflicts;
mod counted;
pub(crate) mod differential;
mod integrity;
mod locking;
mod opening;
