//! Everything in the embedded store: durable, in a folder that this process owns.

mod api_keys;
mod dead_queues;
mod namespaces;
mod role_bindings;
mod roles;
mod users;

use leasehold_core::{Class, Timestamp};
use leasehold_embedded::{Store, Written};
use leasehold_queue::Namespace;
use redb::{Error, ReadTransaction, ReadableTable, WriteTransaction};

use super::administration::administrators;
use super::{Result, StoreError, Withdrawn};

/// A store in a folder.
#[derive(Clone, Debug)]
pub struct EmbeddedStore {
    store: Store,
}

impl EmbeddedStore {
    /// Over an open folder, which it may share with others. Blocks on the disk if the tables are new.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the tables cannot be made.
    pub fn open(store: Store) -> Result<Self> {
        create_tables(&store).map_err(|error| failed("open", error))?;
        Ok(Self { store })
    }

    /// Reads what is committed, on a thread that may block.
    async fn read<T: Send + 'static>(
        &self,
        operation: &'static str,
        read: impl FnOnce(&ReadTransaction) -> Result<T, Error> + Send + 'static,
    ) -> Result<T> {
        let store = self.store.clone();
        match tokio::task::spawn_blocking(move || store.read(read)).await {
            Ok(answer) => answer.map_err(|error| failed(operation, error)),
            Err(lost) => Err(StoreError::Unavailable { operation, source: lost.into() }),
        }
    }

    /// Decides and writes in one step. Dropping the call may or may not stop it.
    async fn write<T: Send + 'static>(
        &self,
        operation: &'static str,
        mut decide: impl FnMut(&WriteTransaction) -> Result<T, Error> + Send + 'static,
    ) -> Result<T> {
        let written = self.store.write(move |transaction| decide(transaction).map(Written::Changed)).await;
        written.map_err(|error| failed(operation, error))
    }

    /// Takes rights away by a change that says whether it found what it changes. Dropping the call may or may not stop
    /// it.
    async fn withdraw(
        &self,
        operation: &'static str,
        now: Timestamp,
        mut change: impl FnMut(&WriteTransaction) -> Result<bool, Error> + Send + 'static,
    ) -> Result<Withdrawn> {
        let written = self.store.write(move |transaction| {
            let was_administered = is_administered(transaction, now)?;
            if !change(transaction)? {
                return Ok(Written::Undo(Withdrawn::Missing));
            }
            if was_administered && !is_administered(transaction, now)? {
                return Ok(Written::Undo(Withdrawn::LastAdministrator));
            }
            Ok(Written::Changed(Withdrawn::Done))
        });
        written.await.map_err(|error| failed(operation, error))
    }
}

fn is_administered(write: &WriteTransaction, now: Timestamp) -> Result<bool, Error> {
    let administrators = administrators(role_bindings::of_system(write)?);
    let expiries = api_keys::unscoped_expiries(write, &administrators)?;
    Ok(super::administration::is_administered(&administrators, expiries, now))
}

/// Makes the tables, so that reading never finds one missing.
fn create_tables(store: &Store) -> Result<(), leasehold_embedded::Error> {
    store.write_blocking(|transaction| {
        transaction.open_table(namespaces::NAMESPACES)?;
        transaction.open_table(users::USERS)?;
        transaction.open_table(users::USER_IDS)?;
        transaction.open_table(api_keys::API_KEYS)?;
        transaction.open_table(api_keys::API_KEY_IDS)?;
        transaction.open_table(roles::ROLES)?;
        transaction.open_table(roles::ROLE_IDS)?;
        transaction.open_table(role_bindings::ROLE_BINDINGS)?;
        transaction.open_table(role_bindings::ROLE_BINDING_IDS)?;
        transaction.open_table(role_bindings::MARKS)?;
        transaction.open_table(dead_queues::DEAD_QUEUES)?;
        Ok(Written::Changed(()))
    })
}

fn failed(operation: &'static str, error: leasehold_embedded::Error) -> StoreError {
    match error.class() {
        Class::Indeterminate => StoreError::Indeterminate { operation, source: error.into() },
        Class::Internal => StoreError::Unusable { what: "access store", reason: error.to_string() },
        _ => StoreError::Unavailable { operation, source: error.into() },
    }
}

/// The name of a namespace as it was stored.
fn namespace(text: &str) -> Result<Namespace, Error> {
    text.parse()
        .map_err(|_| Error::Corrupted("a record names a namespace that no namespace can be".to_owned()))
}

/// Records from the pivot on, in order: those that `decode` wants.
fn page<V, T>(
    table: &impl ReadableTable<&'static str, V>,
    pivot: &str,
    limit: usize,
    decode: impl Fn(&str, V::SelfType<'_>) -> Result<Option<T>, Error>,
) -> Result<Vec<T>, Error>
where
    V: redb::Value + 'static,
{
    let mut page = Vec::new();
    for entry in table.range(pivot..)? {
        if page.len() == limit {
            break;
        }
        let (key, value) = entry?;
        page.extend(decode(key.value(), value.value())?);
    }
    Ok(page)
}
