//! Aurora DSQL on a laptop: the rules by which statements are refused, and the engine that decides conflicts at
//! COMMIT, over a stock PostgreSQL.

pub mod rules;
