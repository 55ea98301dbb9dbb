//! The rules, from outside: what is refused at which level, what stands next to it and is taken, and what hostile
//! texts do.

mod statements;
