//! The statements that another dialect says in other words. All others are the same everywhere.

use super::script::Script;

#[derive(Debug)]
pub(in crate::store) struct Statements {
    pub(in crate::store) namespace_delete: Script,
    pub(in crate::store) user_add: Script,
    pub(in crate::store) user_delete: Script,
    pub(in crate::store) api_key_add: Script,
    pub(in crate::store) api_key_delete: Script,
    pub(in crate::store) role_get: &'static str,
    pub(in crate::store) role_list: &'static str,
    pub(in crate::store) role_add: Script,
    pub(in crate::store) role_update: Script,
    pub(in crate::store) role_delete: Script,
    pub(in crate::store) role_binding_add: Script,
    pub(in crate::store) role_binding_add_once: Script,
    pub(in crate::store) role_binding_delete: Script,
    pub(in crate::store) role_binding_permissions: &'static str,
    pub(in crate::store) role_binding_rights: &'static str,
    pub(in crate::store) system_roles: &'static str,
    /// Orders withdrawals: each sees what those before it took away.
    pub(in crate::store) withdraw: &'static str,
}

pub(super) static POSTGRES: Statements = Statements {
    namespace_delete: Script::one(&[include_str!("sql/namespace_delete.sql")]),
    user_add: Script::one(&[include_str!("sql/user_add.sql")]),
    user_delete: Script::one(&[include_str!("sql/user_delete.sql")]),
    api_key_add: Script::one(&[include_str!("sql/api_key_add.sql")]),
    api_key_delete: Script::one(&[include_str!("sql/api_key_delete.sql")]),
    role_get: include_str!("sql/role_get.sql"),
    role_list: include_str!("sql/role_list.sql"),
    role_add: Script::one(&[include_str!("sql/role_add.sql")]),
    role_update: Script::one(&[include_str!("sql/role_update.sql")]),
    role_delete: Script::one(&[include_str!("sql/role_delete.sql")]),
    role_binding_add: Script::one(&[include_str!("sql/role_binding_add.sql")]),
    role_binding_add_once: Script::one(&[include_str!("sql/role_binding_add_once.sql")]),
    role_binding_delete: Script::one(&[include_str!("sql/role_binding_delete.sql")]),
    role_binding_permissions: include_str!("sql/role_binding_permissions.sql"),
    role_binding_rights: include_str!("sql/role_binding_rights.sql"),
    system_roles: include_str!("sql/system_roles.sql"),
    withdraw: include_str!("sql/withdraw.sql"),
};
