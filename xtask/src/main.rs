//! The one developer command.
fn main() {}
