//! Users: who keys and bindings belong to.

use clap::{Args, Subcommand};
use leasehold_api::queue::{
    User as Record, UserCreateRequest, UsersDeleteRequest, UsersListRequest, UsersListResponse,
};
use serde_json::json;

use super::block_on;
use crate::failure::Failure;
use crate::instant;
use crate::output::{Done, print};
use crate::paging::Paging;
use crate::table::Table;
use crate::target::Target;

/// Users: who keys and bindings belong to.
#[derive(Debug, Args)]
pub(crate) struct User {
    #[command(flatten)]
    target: Target,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Create a user and print its id
    Create {
        /// A name nobody else has
        username: String,
        /// An address
        #[arg(long, default_value = "", hide_default_value = true)]
        email: String,
        /// What the user is called elsewhere
        #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
        external_id: String,
    },
    /// List users by id
    List(Paging),
    /// Delete a user with its bindings and keys
    Delete {
        /// The id that create printed
        id: String,
    },
}

impl User {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        let target = self.target;
        block_on(async {
            let client = target.client()?;
            match self.verb {
                Verb::Create { username, email, external_id } => {
                    let created =
                        client.create_user(&UserCreateRequest { username, email, external_id }).await?;
                    print(target.json, &created, || created.id.clone())?;
                }
                Verb::List(paging) => {
                    let list = UsersListRequest { limit: 0, pivot: paging.pivot.clone() };
                    let items = paging.take(&client, list).await?;
                    show(&target, items)?;
                }
                Verb::Delete { id } => {
                    client.delete_user(&UsersDeleteRequest { id: id.clone() }).await?;
                    print(target.json, &json!({ "deleted": id }), || format!("deleted {id}"))?;
                }
            }
            Ok(Done::Yes)
        })
    }
}

fn show(target: &Target, items: Vec<Record>) -> Result<(), Failure> {
    let response = UsersListResponse { items };
    print(target.json, &response, || {
        let mut table = Table::new(&["ID", "USERNAME", "EMAIL", "EXTERNAL ID", "CREATED AT"]);
        for user in &response.items {
            let created_at = instant::show(user.created_at);
            table.row([&user.id, &user.username, &user.email, &user.external_id, &created_at]);
        }
        table.to_string()
    })
}
