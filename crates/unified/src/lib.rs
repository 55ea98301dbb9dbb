//! Nothing: `cargo xtask test locks` selects this package beside `leasehold-locks`, so that cargo resolves the features of every
//! dependency as it does for the whole workspace, and compiles none of them a second time. It has no target that a test builds.
