//! Requests that cannot be right, in the words that clients know.

use leasehold_queue::Refusal as NameRefusal;

/// Why a request is refused. The text is part of the contract: a constant part, `; `, and details.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the text of each says it")]
pub enum Refusal {
    /// The name of a namespace breaks one of its rules.
    #[error(transparent)]
    Name(#[from] NameRefusal),
    #[error("namespace name is reserved; '{name}' names starting with '_' are reserved")]
    NamespaceReserved { name: String },
    #[error("namespace already exists; '{name}' already exists")]
    NamespaceExists { name: String },
    #[error("namespace has role bindings; '{name}' has role bindings, delete role bindings first")]
    NamespaceHasBindings { name: String },
    #[error("namespace has roles; '{name}' has roles, delete roles first")]
    NamespaceHasRoles { name: String },
    #[error("namespace has queues; '{name}' has queues, delete queues first")]
    NamespaceHasQueues { name: String },

    #[error("username is already taken; '{username}' is already taken")]
    UsernameTaken { username: String },
    #[error(
        "user has keys; '{username}' has keys and is no administrator, delete its keys or name another user"
    )]
    UserHasKeys { username: String },
    #[error("user already exists; '{id}' already exists")]
    UserExists { id: String },

    #[error("api key already exists")]
    ApiKeyExists,
    #[error("api key hash already exists")]
    ApiKeyHashExists,

    #[error("permission is invalid; '{permission}' is not a recognized permission")]
    PermissionUnknown { permission: String },
    #[error("cannot modify or delete standard role; '{name}' is a standard role")]
    RoleStandard { name: String },
    #[error("role already exists; '{namespace}:{name}' already exists")]
    RoleExists { namespace: String, name: String },
    #[error("role has active bindings; '{name}' has active bindings, delete bindings first")]
    RoleHasBindings { name: String },

    #[error(
        "role binding already exists; binding for user '{user_id}' to role '{role_id}' in namespace '{namespace}' \
         already exists"
    )]
    RoleBindingExists { namespace: String, user_id: String, role_id: String },

    #[error(
        "cannot remove the last administrator; first give another user role 'Admin' in '_system' and a key without scope"
    )]
    LastAdministrator,

    #[error("{field} is invalid; cannot be empty")]
    Empty { field: &'static str },
    #[error("{field} is invalid; cannot be greater than '{limit}' characters")]
    TooLong { field: &'static str, limit: usize },
    #[error("{field} is invalid; '{value}' cannot contain ':' character")]
    Colon { field: &'static str, value: String },
    #[error("{field} is invalid; cannot contain NUL character")]
    Nul { field: &'static str },
    #[error("{field} is invalid; cannot be greater than 16 characters")]
    TagTooLong { field: &'static str },
    #[error("{field} is invalid; must be lowercase alphanumeric only")]
    TagCharacters { field: &'static str },
}
