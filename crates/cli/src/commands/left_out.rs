use std::ffi::OsString;

use clap::Args;

use crate::failure::Failure;
use crate::output::Done;

/// A command that this binary was built without.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct LeftOut {
    /// Taken so that the answer is not about them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<OsString>,
}

impl LeftOut {
    pub(crate) fn run(self, feature: &str) -> Result<Done, Failure> {
        Err(Failure::input("this command is not part of this binary")
            .next(format!("build it in: 'cargo build --release --features {feature}'")))
    }
}
