//! API keys: what a request is recognised by.

use clap::{Args, Subcommand};
use leasehold_api::queue::{
    ApiKeyCreateRequest, ApiKeyMetadata, ApiKeysDeleteRequest, ApiKeysListRequest, ApiKeysListResponse,
};
use prost_types::Timestamp;
use serde_json::json;

use super::block_on;
use crate::failure::Failure;
use crate::instant;
use crate::output::{Done, print};
use crate::paging::Paging;
use crate::table::Table;
use crate::target::Target;

/// API keys: what a request is recognised by.
#[derive(Debug, Args)]
pub(crate) struct Apikey {
    #[command(flatten)]
    target: Target,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Create a key and print it: it is shown here and never again
    Create {
        /// Whose it is: the id that 'user create' printed
        user_id: String,
        /// What it is for
        #[arg(long, default_value = "", hide_default_value = true)]
        name: String,
        /// Good in this namespace only
        #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
        namespace: String,
        /// When it ends: 2026-11-15T07:05:51Z, or 720h for so long from now
        #[arg(long, value_name = "INSTANT|DURATION", value_parser = instant::parse)]
        expires_at: Option<Timestamp>,
        /// In the key's text: up to 16 of a-z and 0-9
        #[arg(long, default_value = "", hide_default_value = true)]
        tag: String,
    },
    /// List keys, without their text
    List {
        /// Only those of this user
        #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
        user_id: String,
        #[command(flatten)]
        paging: Paging,
    },
    /// Delete a key; it opens nothing from now on
    Delete {
        /// The id that create printed
        id: String,
    },
}

impl Apikey {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        let target = self.target;
        block_on(async {
            let client = target.client()?;
            match self.verb {
                Verb::Create { user_id, name, namespace, expires_at, tag } => {
                    let request = ApiKeyCreateRequest {
                        user_id,
                        name,
                        namespace_scope: namespace,
                        expires_at,
                        key_tag: tag,
                    };
                    let created = client.create_api_key(&request).await?;
                    print(target.json, &created, || format!("id   {}\nkey  {}", created.id, created.key))?;
                }
                Verb::List { user_id, paging } => {
                    let list = ApiKeysListRequest { user_id, limit: 0, pivot: paging.pivot.clone() };
                    let items = paging.take(&client, list).await?;
                    show(&target, items)?;
                }
                Verb::Delete { id } => {
                    client.delete_api_key(&ApiKeysDeleteRequest { id: id.clone() }).await?;
                    print(target.json, &json!({ "deleted": id }), || format!("deleted {id}"))?;
                }
            }
            Ok(Done::Yes)
        })
    }
}

fn show(target: &Target, items: Vec<ApiKeyMetadata>) -> Result<(), Failure> {
    let response = ApiKeysListResponse { items };
    print(target.json, &response, || {
        let mut table =
            Table::new(&["ID", "PREFIX", "USER ID", "NAMESPACE", "EXPIRES AT", "LAST USED AT", "NAME"]);
        for key in &response.items {
            table.row([
                &key.id,
                &key.prefix,
                &key.user_id,
                &key.namespace_scope,
                &instant::show(key.expires_at),
                &instant::show(key.last_used_at),
                &key.name,
            ]);
        }
        table.to_string()
    })
}
