//! Namespaces: what rights are given in.

use clap::{Args, Subcommand};
use leasehold_api::queue::{
    NamespaceInfo, NamespacesDeleteRequest, NamespacesListRequest, NamespacesListResponse,
};
use serde_json::json;

use super::block_on;
use crate::failure::Failure;
use crate::instant;
use crate::output::{Done, print};
use crate::paging::Paging;
use crate::table::Table;
use crate::target::Target;

/// Namespaces: what rights are given in.
#[derive(Debug, Args)]
pub(crate) struct Namespace {
    #[command(flatten)]
    target: Target,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Args)]
struct Settings {
    /// The namespace
    name: String,

    /// What it is for
    #[arg(long, default_value = "", hide_default_value = true)]
    description: String,

    /// In the API keys made for it: up to 16 of a-z and 0-9
    #[arg(long, value_name = "TAG", default_value = "", hide_default_value = true)]
    api_key_tag: String,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Create a namespace
    Create(Settings),
    /// Replace description and tag
    Update(Settings),
    /// List namespaces by name
    List(Paging),
    /// Delete a namespace that has no queues, roles or bindings
    Delete {
        /// The namespace
        name: String,
    },
}

impl Namespace {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        let target = self.target;
        block_on(async {
            let client = target.client()?;
            match self.verb {
                Verb::Create(settings) => {
                    let info = settings.info();
                    client.create_namespace(&info).await?;
                    print(target.json, &info, || format!("created {}", info.name))?;
                }
                Verb::Update(settings) => {
                    let info = settings.info();
                    client.update_namespace(&info).await?;
                    print(target.json, &info, || format!("updated {}", info.name))?;
                }
                Verb::List(paging) => {
                    let list = NamespacesListRequest { pivot: paging.pivot.clone(), limit: 0 };
                    let items = paging.take(&client, list).await?;
                    show(&target, items)?;
                }
                Verb::Delete { name } => {
                    client.delete_namespace(&NamespacesDeleteRequest { name: name.clone() }).await?;
                    print(target.json, &json!({ "deleted": name }), || format!("deleted {name}"))?;
                }
            }
            Ok(Done::Yes)
        })
    }
}

impl Settings {
    fn info(self) -> NamespaceInfo {
        let Settings { name, description, api_key_tag } = self;
        NamespaceInfo { name, description, created_at: None, api_key_tag }
    }
}

fn show(target: &Target, items: Vec<NamespaceInfo>) -> Result<(), Failure> {
    let response = NamespacesListResponse { items };
    print(target.json, &response, || {
        let mut table = Table::new(&["NAMESPACE", "KEY TAG", "CREATED AT", "DESCRIPTION"]);
        for namespace in &response.items {
            let created_at = instant::show(namespace.created_at);
            table.row([&namespace.name, &namespace.api_key_tag, &created_at, &namespace.description]);
        }
        table.to_string()
    })
}
