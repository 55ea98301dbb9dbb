//! The contract over the embedded store, and what it promises beyond: everything outlives the process.

use std::sync::Arc;

use async_trait::async_trait;
use leasehold_access::conformance::Harness;
use leasehold_access::store::embedded::EmbeddedStore;
use leasehold_access::{
    ANONYMOUS, Access, ApiKeyRequest, Config, Driver, Error, Permission, Principal, RoleBindingRequest,
    Stores, UserRequest, access_conformance,
};
use leasehold_embedded::Store;
use tempfile::TempDir;

struct Embedded {
    store: Arc<EmbeddedStore>,
    _folder: TempDir,
}

fn open(folder: &TempDir) -> Arc<EmbeddedStore> {
    let store = Store::open(folder.path()).expect("the folder is free");
    Arc::new(EmbeddedStore::open(store).expect("opens"))
}

#[async_trait]
impl Harness for Embedded {
    async fn start() -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        Embedded { store: open(&folder), _folder: folder }
    }

    async fn stores(&self) -> Stores {
        Stores::of(self.store.clone())
    }
}

access_conformance!(Embedded);

fn server(folder: &TempDir) -> Access {
    Access::new(Stores::of(open(folder)), Config { driver: Driver::Internal, ..Config::default() })
}

#[tokio::test]
async fn keys_and_the_closed_door_survive_a_restart() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let anyone = Principal::anonymous();
    let (user_id, header) = {
        let server = server(&folder);
        let request = UserRequest { username: "ann".to_owned(), ..UserRequest::default() };
        let user_id = server.create_user(&anyone, &request).await.expect("the door is open");
        let bind = |user_id: &str| RoleBindingRequest {
            namespace: "_system".to_owned(),
            role_name: "Admin".to_owned(),
            user_id: user_id.to_owned(),
        };
        server.create_role_binding(&anyone, &bind(&user_id)).await.expect("binds");
        let request = ApiKeyRequest { user_id: user_id.clone(), ..ApiKeyRequest::default() };
        let key = server.create_api_key(&anyone, &request).await.expect("creates");
        server.delete_role_binding(&anyone, &bind(ANONYMOUS)).await.expect("closes the door");
        (user_id, format!("Bearer {}", key.key.expose()))
    };
    let server = server(&folder);
    let denied = server.authorise(&anyone, "", Permission::UserCreate).await;
    assert!(matches!(denied, Err(Error::Denied)), "{denied:?}");
    let ann = server.authenticate(Some(header.as_bytes())).await.expect("the key is known");
    assert_eq!(ann.user_id(), user_id);
    server.authorise(&ann, "orders", Permission::QueueCreate).await.expect("its role counts everywhere");
}
