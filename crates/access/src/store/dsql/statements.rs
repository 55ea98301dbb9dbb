//! The statements. One that decides something is a script: what stands in the way, then the write, which does nothing if
//! something does. All of a script see one snapshot and what the script itself changed before them.

use super::super::postgres::script::Script;
use super::super::postgres::statements::Statements;

pub(super) const SCHEMA_STATE: &str = include_str!("sql/schema_state.sql");
pub(super) const VERSIONS: &str = include_str!("sql/versions.sql");
/// Each in a transaction of its own.
pub(super) const SCHEMA_TABLES: [&str; 8] = [
    include_str!("sql/schema_namespaces.sql"),
    include_str!("sql/schema_users.sql"),
    include_str!("sql/schema_api_keys.sql"),
    include_str!("sql/schema_roles.sql"),
    include_str!("sql/schema_role_bindings.sql"),
    include_str!("sql/schema_access_marks.sql"),
    include_str!("sql/schema_access_versions.sql"),
    include_str!("sql/schema_dead_queues.sql"),
];
/// Each in a transaction of its own; each answers with the job that builds it.
pub(super) const SCHEMA_INDEXES: [&str; 3] = [
    include_str!("sql/schema_api_keys_user.sql"),
    include_str!("sql/schema_role_bindings_namespace.sql"),
    include_str!("sql/schema_role_bindings_role.sql"),
];

const NAMESPACE_CLAIM: &str = include_str!("sql/namespace_claim.sql");
const USER_CLAIM: &str = include_str!("sql/user_claim.sql");
const ROLE_CLAIM: &str = include_str!("sql/role_claim.sql");

pub(super) static DSQL: Statements = Statements {
    namespace_delete: Script {
        statements: &[
            include_str!("sql/namespace_delete_obstacle.sql"),
            include_str!("sql/namespace_delete.sql"),
        ],
        obstacle: Some(0),
        answer: 1,
    },
    user_add: Script {
        statements: &[include_str!("sql/user_add_obstacle.sql"), include_str!("sql/user_add.sql")],
        obstacle: Some(0),
        answer: 1,
    },
    user_delete: Script {
        statements: &[
            include_str!("sql/user_delete_versions.sql"),
            include_str!("sql/user_delete_api_keys.sql"),
            include_str!("sql/user_delete_role_bindings.sql"),
            include_str!("sql/user_delete_rest.sql"),
            include_str!("sql/user_delete.sql"),
        ],
        obstacle: None,
        answer: 3,
    },
    api_key_add: Script {
        statements: &[
            USER_CLAIM,
            include_str!("sql/api_key_add_obstacle.sql"),
            include_str!("sql/api_key_add.sql"),
        ],
        obstacle: Some(1),
        answer: 2,
    },
    api_key_delete: Script {
        statements: &[
            include_str!("sql/api_key_delete_versions.sql"),
            include_str!("sql/api_key_delete.sql"),
        ],
        obstacle: None,
        answer: 1,
    },
    role_get: include_str!("sql/role_get.sql"),
    role_list: include_str!("sql/role_list.sql"),
    role_add: Script {
        statements: &[
            NAMESPACE_CLAIM,
            include_str!("sql/role_add_obstacle.sql"),
            include_str!("sql/role_add.sql"),
        ],
        obstacle: Some(1),
        answer: 2,
    },
    role_update: Script {
        statements: &[include_str!("sql/role_update_versions.sql"), include_str!("sql/role_update.sql")],
        obstacle: None,
        answer: 1,
    },
    role_delete: Script {
        statements: &[include_str!("sql/role_delete_obstacle.sql"), include_str!("sql/role_delete.sql")],
        obstacle: Some(0),
        answer: 1,
    },
    role_binding_add: Script {
        statements: &[
            ROLE_CLAIM,
            USER_CLAIM,
            include_str!("sql/role_binding_add_obstacle.sql"),
            include_str!("sql/role_binding_add_versions.sql"),
            include_str!("sql/role_binding_add.sql"),
        ],
        obstacle: Some(2),
        answer: 4,
    },
    role_binding_add_once: Script {
        statements: &[
            ROLE_CLAIM,
            USER_CLAIM,
            include_str!("sql/role_binding_add_once_obstacle.sql"),
            include_str!("sql/role_binding_add_once_outcome.sql"),
            include_str!("sql/role_binding_add_once.sql"),
            include_str!("sql/role_binding_add_once_mark.sql"),
        ],
        obstacle: Some(2),
        answer: 3,
    },
    role_binding_delete: Script {
        statements: &[
            include_str!("sql/role_binding_delete_versions.sql"),
            include_str!("sql/role_binding_delete.sql"),
        ],
        obstacle: None,
        answer: 1,
    },
    role_binding_permissions: include_str!("sql/role_binding_permissions.sql"),
    role_binding_rights: include_str!("sql/role_binding_rights.sql"),
    system_roles: include_str!("sql/system_roles.sql"),
    withdraw: include_str!("sql/withdraw.sql"),
};
