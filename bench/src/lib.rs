//! Measuring two forms of the same work against each other on a machine that has other things to do.

pub mod by_hand;
pub mod figures;
pub mod pairs;
pub mod peers;
pub mod placement;
pub mod places;
pub mod plot;
pub mod rates;
pub mod round_trips;
pub mod served;
pub mod state;
pub mod tables;
