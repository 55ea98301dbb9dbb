//! What a write came to. Each was decided in the same step as the write.

/// What became of a user that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserAdded {
    /// It is there now.
    Added,
    /// There is one with this id.
    IdExists,
    /// There is one with this name.
    UsernameTaken,
}

/// What became of a key that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiKeyAdded {
    /// It is there now.
    Added,
    /// There is one with this id.
    IdExists,
    /// There is one with this hash.
    HashExists,
    /// There is no such user.
    UserMissing,
}

/// What became of a role that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleAdded {
    /// It is there now.
    Added,
    /// There is one with this id, or with this name in the namespace.
    Exists,
    /// There is no such namespace.
    NamespaceMissing,
}

/// What became of a binding that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleBindingAdded {
    /// It is there now.
    Added,
    /// There is one with this id, or of this user to this role.
    Exists,
    /// There is no such role.
    RoleMissing,
    /// There is no such user.
    UserMissing,
}

/// What became of a write that takes rights away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawn {
    /// It is done.
    Done,
    /// There was no such record.
    Missing,
    /// Nothing was done: the store has an administrator, and afterwards it would have none.
    LastAdministrator,
}

/// What became of a record that others may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// It is gone.
    Deleted,
    /// It was not there.
    Missing,
    /// Others name it, so it stays.
    InUse,
}
