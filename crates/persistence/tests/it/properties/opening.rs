//! Property 8: initialisation. Two services meet an empty database at the same time, make the tables and use every store for
//! the first time; then two more do.

use leasehold_core::Class;
use leasehold_persistence::{Config, Schema};
use leasehold_txn::Policy;

use crate::fixture::Place;
use crate::reads::every_read;
use crate::writes::all;

/// Services ask for their tokens again when somebody else was faster.
const PATIENCE: usize = 50;

async fn serve(place: &Place, seed: u16) {
    let pool = place.pool();
    Schema::of(pool.dialect()).apply(&pool).await.expect("the tables");
    let mut config = Config::new(pool.dialect());
    config.retries =
        Policy::new(40, std::time::Duration::from_millis(1), std::time::Duration::from_millis(100))
            .expect("a policy");
    config.takeover_retries = config.retries.clone();
    config.timeout = std::time::Duration::from_secs(60);
    let database = place.open(pool, config).await.expect("a database");
    every_read(&database).await;
    // Seeds of a service are its own; what a database has one of they share.
    for (write, seed) in all().zip(seed..) {
        let mut tried = 0;
        loop {
            let prepared =
                (write.prepare)(database.clone(), seed + 1_000 * u16::try_from(tried).expect("small")).await;
            match prepared(database.clone()).await {
                Ok(()) => break,
                Err(error) if error.class() == Class::Conflict && tried < PATIENCE => tried += 1,
                Err(error) => panic!("{}: {error:?}", write.name),
            }
        }
    }
}

pub(crate) async fn two_services_open_an_empty_database_twice(place: &Place) {
    for round in 0..2 {
        tokio::join!(serve(place, round * 200), serve(place, round * 200 + 100));
    }
}
