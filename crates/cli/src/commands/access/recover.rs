use clap::Args;
use leasehold_embedded::Found;
use leasehold_server::{DEFAULT_STORE, StoreLocation, recover_access};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Done, print};

/// Create an administrator after the keys of all others were lost, and print its key: it is shown here and never again.
///
/// The user gets role Admin in _system and a key that is good everywhere and does not expire. Other users, keys and roles
/// stay as they are. A folder must not be in use by a server; a database may be.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Recover {
    /// What holds users and keys: a folder, postgres://… or dsql://…
    #[arg(long, value_name = "PATH|URL", env = "LEASEHOLD_STORE", hide_env_values = true, default_value = DEFAULT_STORE)]
    store: String,

    /// The name of the user, who is created if there is none
    #[arg(long, value_name = "NAME", default_value = "recovered-admin")]
    user: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
Exit codes:
  0 done · 2 there is no such store, or the name is wrong · 4 the store is in use or unavailable · 5 outcome unknown: repeat it

Examples:
  leasehold access recover --store /var/lib/leasehold
  leasehold access recover --store postgres://app:secret@db/app --user ann --json | jq -r .key";

impl Recover {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        let store: StoreLocation = self.store.parse()?;
        match &store {
            StoreLocation::Memory => {
                return Err(Failure::input("memory: is gone with its server: there is nothing to recover"));
            }
            // Opening would make one.
            StoreLocation::Folder(folder) => {
                let inspected = leasehold_embedded::inspect(folder).map_err(leasehold_server::Error::from)?;
                if inspected.state == Found::Nothing {
                    return Err(Failure::input(format!("there is no store in the folder {store}")));
                }
            }
            StoreLocation::Postgres(_) | StoreLocation::Dsql(_) => {}
        }
        let recovered = recover_access(&store, &self.user).await?;
        let key = recovered.key.key.expose();
        let answer = json!({ "user_id": recovered.user_id, "id": recovered.key.id, "key": key });
        print(self.json, &answer, || {
            format!("user {}\nid   {}\nkey  {key}", recovered.user_id, recovered.key.id)
        })?;
        Ok(Done::Yes)
    }
}
