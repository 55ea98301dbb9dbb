//! What holds for every write of every store, on PostgreSQL: its line is cut, its server is killed.

mod cut;
mod killed;
