//! The engine and the rules, from outside.

mod postgres;
mod rules;
