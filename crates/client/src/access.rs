//! Who may do what: namespaces, users, API keys, roles, bindings.

use leasehold_api::queue::{
    ApiKeyCreateRequest, ApiKeyCreateResponse, ApiKeysDeleteRequest, ApiKeysListRequest, ApiKeysListResponse,
    NamespaceInfo, NamespacesDeleteRequest, NamespacesListRequest, NamespacesListResponse,
    RoleBindingCreateRequest, RoleBindingCreateResponse, RoleBindingDeleteRequest, RoleBindingsListRequest,
    RoleBindingsListResponse, RoleCreateRequest, RoleCreateResponse, RoleUpdateRequest, RolesDeleteRequest,
    RolesListRequest, RolesListResponse, UserCreateRequest, UserCreateResponse, UsersDeleteRequest,
    UsersListRequest, UsersListResponse,
};

use crate::{Client, Result};

impl Client {
    /// Creates a namespace.
    pub async fn create_namespace(&self, request: &NamespaceInfo) -> Result<()> {
        self.tell("/v1/namespaces.create", request).await
    }

    /// Replaces description and tag.
    pub async fn update_namespace(&self, request: &NamespaceInfo) -> Result<()> {
        self.tell("/v1/namespaces.update", request).await
    }

    /// Namespaces from the pivot on, by name.
    pub async fn list_namespaces(&self, request: &NamespacesListRequest) -> Result<NamespacesListResponse> {
        self.ask("/v1/namespaces.list", request).await
    }

    /// Deletes a namespace that has no queues, roles or bindings.
    pub async fn delete_namespace(&self, request: &NamespacesDeleteRequest) -> Result<()> {
        self.tell("/v1/namespaces.delete", request).await
    }

    /// Creates a user.
    pub async fn create_user(&self, request: &UserCreateRequest) -> Result<UserCreateResponse> {
        self.ask("/v1/users.create", request).await
    }

    /// Users from the pivot on, by id.
    pub async fn list_users(&self, request: &UsersListRequest) -> Result<UsersListResponse> {
        self.ask("/v1/users.list", request).await
    }

    /// Deletes a user with its bindings and keys.
    pub async fn delete_user(&self, request: &UsersDeleteRequest) -> Result<()> {
        self.tell("/v1/users.delete", request).await
    }

    /// Creates a key. Its text is in this answer and nowhere else.
    pub async fn create_api_key(&self, request: &ApiKeyCreateRequest) -> Result<ApiKeyCreateResponse> {
        self.ask("/v1/apikeys.create", request).await
    }

    /// Keys from the pivot on, without their text.
    pub async fn list_api_keys(&self, request: &ApiKeysListRequest) -> Result<ApiKeysListResponse> {
        self.ask("/v1/apikeys.list", request).await
    }

    /// Deletes a key; it opens nothing from now on.
    pub async fn delete_api_key(&self, request: &ApiKeysDeleteRequest) -> Result<()> {
        self.tell("/v1/apikeys.delete", request).await
    }

    /// Creates a role in a namespace.
    pub async fn create_role(&self, request: &RoleCreateRequest) -> Result<RoleCreateResponse> {
        self.ask("/v1/roles.create", request).await
    }

    /// Roles of a namespace from the pivot on.
    pub async fn list_roles(&self, request: &RolesListRequest) -> Result<RolesListResponse> {
        self.ask("/v1/roles.list", request).await
    }

    /// Replaces the permissions of a role.
    pub async fn update_role(&self, request: &RoleUpdateRequest) -> Result<()> {
        self.tell("/v1/roles.update", request).await
    }

    /// Deletes a role that nobody is bound to.
    pub async fn delete_role(&self, request: &RolesDeleteRequest) -> Result<()> {
        self.tell("/v1/roles.delete", request).await
    }

    /// Gives a role to a user.
    pub async fn create_binding(
        &self,
        request: &RoleBindingCreateRequest,
    ) -> Result<RoleBindingCreateResponse> {
        self.ask("/v1/rolebindings.create", request).await
    }

    /// Bindings of a namespace from the pivot on.
    pub async fn list_bindings(&self, request: &RoleBindingsListRequest) -> Result<RoleBindingsListResponse> {
        self.ask("/v1/rolebindings.list", request).await
    }

    /// Takes a role from a user.
    pub async fn delete_binding(&self, request: &RoleBindingDeleteRequest) -> Result<()> {
        self.tell("/v1/rolebindings.delete", request).await
    }
}
