//! Roles: permissions under a name.

use clap::{Args, Subcommand};
use leasehold_api::queue::{
    Role as Record, RoleCreateRequest, RoleUpdateRequest, RolesDeleteRequest, RolesListRequest,
    RolesListResponse,
};
use serde_json::json;

use super::block_on;
use crate::failure::Failure;
use crate::output::{Done, print};
use crate::paging::Paging;
use crate::table::Table;
use crate::target::Target;

/// Roles: permissions under a name.
#[derive(Debug, Args)]
pub(crate) struct Role {
    #[command(flatten)]
    target: Target,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Args)]
struct Named {
    /// The role
    name: String,

    /// The namespace it is in
    #[arg(long, value_name = "NAME", default_value = "_system")]
    namespace: String,
}

#[derive(Debug, Args)]
struct Permissions {
    /// What it permits, such as queue.produce; may be given several times
    #[arg(long = "permission", value_name = "PERMISSION", required = true, value_delimiter = ',')]
    permissions: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Create a role and print its id
    Create {
        #[command(flatten)]
        named: Named,
        #[command(flatten)]
        given: Permissions,
    },
    /// Replace what a role permits
    Update {
        #[command(flatten)]
        named: Named,
        #[command(flatten)]
        given: Permissions,
    },
    /// List the roles of a namespace
    List {
        /// The namespace
        #[arg(long, value_name = "NAME", default_value = "_system")]
        namespace: String,
        #[command(flatten)]
        paging: Paging,
    },
    /// Delete a role that nobody is bound to
    Delete(Named),
}

impl Role {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        let target = self.target;
        block_on(async {
            let client = target.client()?;
            match self.verb {
                Verb::Create { named: Named { name, namespace }, given } => {
                    let request = RoleCreateRequest { namespace, name, permissions: given.permissions };
                    let created = client.create_role(&request).await?;
                    print(target.json, &created, || created.id.clone())?;
                }
                Verb::Update { named: Named { name, namespace }, given } => {
                    let request = RoleUpdateRequest { namespace, name, permissions: given.permissions };
                    client.update_role(&request).await?;
                    print(target.json, &request, || format!("updated {}", request.name))?;
                }
                Verb::List { namespace, paging } => {
                    let list = RolesListRequest { namespace, limit: 0, pivot: paging.pivot.clone() };
                    let items = paging.take(&client, list).await?;
                    show(&target, items)?;
                }
                Verb::Delete(Named { name, namespace }) => {
                    let request = RolesDeleteRequest { namespace, name };
                    client.delete_role(&request).await?;
                    print(target.json, &json!({ "deleted": request.name }), || {
                        format!("deleted {}", request.name)
                    })?;
                }
            }
            Ok(Done::Yes)
        })
    }
}

fn show(target: &Target, items: Vec<Record>) -> Result<(), Failure> {
    let response = RolesListResponse { items };
    print(target.json, &response, || {
        let mut table = Table::new(&["ID", "ROLE", "NAMESPACE", "PERMISSIONS"]);
        for role in &response.items {
            table.row([&role.id, &role.name, &role.namespace, &role.permissions.join(" ")]);
        }
        table.to_string()
    })
}
