//! Bindings: who has which role where.

use clap::{Args, Subcommand};
use leasehold_api::queue::{
    RoleBinding, RoleBindingCreateRequest, RoleBindingDeleteRequest, RoleBindingsListRequest,
    RoleBindingsListResponse,
};
use serde_json::json;

use super::block_on;
use crate::failure::Failure;
use crate::instant;
use crate::output::{Done, print};
use crate::paging::Paging;
use crate::table::Table;
use crate::target::Target;

/// Bindings: who has which role where.
#[derive(Debug, Args)]
pub(crate) struct Binding {
    #[command(flatten)]
    target: Target,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Args)]
struct Bound {
    /// The role
    role: String,

    /// The id of the user
    user_id: String,

    /// The namespace; rights in _system count everywhere
    #[arg(long, value_name = "NAME", default_value = "_system")]
    namespace: String,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Give a role to a user
    Create(Bound),
    /// List the bindings of a namespace
    List {
        /// The namespace
        #[arg(long, value_name = "NAME", default_value = "_system")]
        namespace: String,
        /// Only those of this user
        #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
        user_id: String,
        #[command(flatten)]
        paging: Paging,
    },
    /// Take a role from a user
    Delete(Bound),
}

impl Binding {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        let target = self.target;
        block_on(async {
            let client = target.client()?;
            match self.verb {
                Verb::Create(Bound { role, user_id, namespace }) => {
                    let request = RoleBindingCreateRequest { namespace, role_name: role, user_id };
                    let created = client.create_binding(&request).await?;
                    print(target.json, &created, || created.id.clone())?;
                }
                Verb::List { namespace, user_id, paging } => {
                    let list = RoleBindingsListRequest {
                        namespace,
                        user_id_filter: user_id,
                        limit: 0,
                        pivot: paging.pivot.clone(),
                    };
                    let items = paging.take(&client, list).await?;
                    show(&target, items)?;
                }
                Verb::Delete(Bound { role, user_id, namespace }) => {
                    let request = RoleBindingDeleteRequest { namespace, role_name: role, user_id };
                    client.delete_binding(&request).await?;
                    print(target.json, &json!({ "deleted": request.role_name }), || {
                        format!("took {} from {}", request.role_name, request.user_id)
                    })?;
                }
            }
            Ok(Done::Yes)
        })
    }
}

fn show(target: &Target, items: Vec<RoleBinding>) -> Result<(), Failure> {
    let response = RoleBindingsListResponse { items };
    print(target.json, &response, || {
        let mut table = Table::new(&["ID", "NAMESPACE", "USER ID", "ROLE ID", "CREATED AT"]);
        for binding in &response.items {
            let created_at = instant::show(binding.created_at);
            table.row([&binding.id, &binding.namespace, &binding.user_id, &binding.role_id, &created_at]);
        }
        table.to_string()
    })
}
