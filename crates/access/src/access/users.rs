//! Users: create, list, delete. All are judged in `_system`.

use leasehold_queue::DEFAULT_NAMESPACE;

use super::fields::{no_nul, not_empty, not_longer};
use super::{Access, audit};
use crate::store::{Change, UserAdded, Withdrawn};
use crate::{ANONYMOUS, Error, Page, Permission, Principal, Refusal, Result, User};

const USERNAME_BYTES_MAX: usize = 128;
const EMAIL_BYTES_MAX: usize = 256;
const EXTERNAL_ID_BYTES_MAX: usize = 256;

/// A user as it shall be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserRequest {
    /// Its name.
    pub username: String,
    /// May be empty.
    pub email: String,
    /// Its name elsewhere; may be empty.
    pub external_id: String,
}

impl UserRequest {
    fn check(&self) -> Result<(), Refusal> {
        check_username(&self.username)?;
        not_longer("email", &self.email, EMAIL_BYTES_MAX)?;
        not_longer("external_id", &self.external_id, EXTERNAL_ID_BYTES_MAX)?;
        no_nul("email", &self.email)?;
        no_nul("external_id", &self.external_id)
    }
}

pub(super) fn check_username(username: &str) -> Result<(), Refusal> {
    not_longer("username", username, USERNAME_BYTES_MAX)?;
    not_empty("username", username)?;
    no_nul("username", username)
}

impl Access {
    /// Makes a user; its id. Dropping the call leaves it made or not.
    ///
    /// # Errors
    /// A field that is too long or missing, a name that is taken, [`Error::Denied`].
    pub async fn create_user(&self, actor: &Principal, request: &UserRequest) -> Result<String> {
        let store = self.users()?;
        request.check()?;
        self.permit(actor, DEFAULT_NAMESPACE, Permission::UserCreate, &request.username).await?;
        let now = self.0.clock.now();
        let user = User {
            id: self.id(),
            username: request.username.clone(),
            external_id: request.external_id.clone(),
            email: request.email.clone(),
            created_at: now,
            updated_at: now,
        };
        // The name is kept free although nobody is judged now: the day requests are, it must be.
        let added =
            if user.username == ANONYMOUS { UserAdded::UsernameTaken } else { store.add(&user).await? };
        match added {
            UserAdded::Added => audit::done(actor, Permission::UserCreate, &user.id),
            UserAdded::IdExists => return Err(Refusal::UserExists { id: user.id }.into()),
            UserAdded::UsernameTaken => {
                return Err(Refusal::UsernameTaken { username: user.username }.into());
            }
        }
        Ok(user.id)
    }

    /// Users in the order of their ids.
    ///
    /// # Errors
    /// [`Error::Denied`].
    pub async fn list_users(&self, actor: &Principal, page: &Page) -> Result<Vec<User>> {
        let store = self.users()?;
        self.authorise(actor, DEFAULT_NAMESPACE, Permission::UserList).await?;
        let Some(limit) = page.limit() else { return Ok(Vec::new()) };
        Ok(store.list(page.pivot(), limit).await?)
    }

    /// Deletes a user with all keys and bindings: from here on its keys are refused. Goes on when it is dropped.
    ///
    /// # Errors
    /// [`Error::Denied`], [`Error::UserNotFound`], [`Refusal::LastAdministrator`].
    pub async fn delete_user(&self, actor: &Principal, id: &str) -> Result<()> {
        let store = self.users()?.clone();
        self.role_bindings()?;
        self.api_keys()?;
        self.permit(actor, DEFAULT_NAMESPACE, Permission::UserDelete, id).await?;
        let id = id.to_owned();
        let (deleting, now) = (id.clone(), self.0.clock.now());
        let deleted = self.write("delete_user", Change::User { id: id.clone() }, async move {
            store.delete(&deleting, now).await
        });
        match deleted.await? {
            Withdrawn::Done => audit::done(actor, Permission::UserDelete, &id),
            Withdrawn::Missing => return Err(Error::UserNotFound { id }),
            Withdrawn::LastAdministrator => return Err(Refusal::LastAdministrator.into()),
        }
        Ok(())
    }
}
