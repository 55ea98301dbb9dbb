//! How a DSQL pool signs in: a stand-in server asks for a password and says what it was given.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use leasehold_core::Class;
use leasehold_txn::{Config, Credentials, Error, Operation, Policy, Pool, Statement};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const SIGN_IN: Statement<'_> = Statement::read(Operation::new("test"), "SELECT 1");

/// Refuses the first so many sign-ins, then closes every session it accepted. Keeps the passwords.
async fn stand_in(refusals: usize) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let passwords = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&passwords);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let password = ask(&mut client).await;
            let count = {
                let mut seen = seen.lock().unwrap();
                seen.push(password);
                seen.len()
            };
            if count <= refusals {
                let error = b"SFATAL\0VFATAL\0C28000\0Munable to accept connection, access denied\0HSignature expired\0\0";
                client.write_all(&message(b'E', error)).await.unwrap();
            } else {
                let accepted = [message(b'R', &0_u32.to_be_bytes()), message(b'Z', b"I")].concat();
                client.write_all(&accepted).await.unwrap();
            }
        }
    });
    (address, passwords)
}

/// Reads the start of a session and asks for a password in the clear.
async fn ask(client: &mut TcpStream) -> String {
    let length = usize::try_from(client.read_u32().await.unwrap()).unwrap();
    client.read_exact(&mut vec![0; length - 4]).await.unwrap();
    client.write_all(&message(b'R', &3_u32.to_be_bytes())).await.unwrap();
    assert_eq!(client.read_u8().await.unwrap(), b'p');
    let length = usize::try_from(client.read_u32().await.unwrap()).unwrap();
    let mut password = vec![0; length - 4];
    client.read_exact(&mut password).await.unwrap();
    assert_eq!(password.pop(), Some(0));
    String::from_utf8(password).unwrap()
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[kind], length.as_slice(), body].concat()
}

async fn sign_in(address: SocketAddr, rest: &str) -> Error {
    let url = format!("dsql://{address}?sslmode=disable&region=eu-west-2{rest}");
    let config = Config::new(url.parse().unwrap()).credentials(Credentials::new("akid", "hush", None));
    let pool = Pool::new(config).unwrap();
    SIGN_IN.query(&pool, &Policy::none(), &[]).await.expect_err("the stand-in has no answers")
}

#[tokio::test]
async fn signed_token_is_the_password() {
    let (address, passwords) = stand_in(0).await;
    let error = sign_in(address, "").await;
    assert_eq!(error.code(), "txn.connection_lost", "signed in, then left: {error:?}");
    let passwords = passwords.lock().unwrap().clone();
    let [token] = passwords.as_slice() else { panic!("{passwords:?}") };
    assert!(
        token.starts_with("127.0.0.1/?Action=DbConnectAdmin&X-Amz-Algorithm=AWS4-HMAC-SHA256&"),
        "{token}"
    );
    assert!(token.contains("%2Feu-west-2%2Fdsql%2Faws4_request"), "{token}");
}

#[tokio::test]
async fn password_of_the_connection_string_is_used_as_it_is() {
    let (address, passwords) = stand_in(0).await;
    sign_in(address, "&password=given&user=app").await;
    assert_eq!(*passwords.lock().unwrap(), ["given"]);
}

#[tokio::test]
async fn refused_token_is_replaced_once() {
    let (address, passwords) = stand_in(1).await;
    assert_eq!(sign_in(address, "").await.code(), "txn.connection_lost");
    assert_eq!(passwords.lock().unwrap().len(), 2);

    let (address, passwords) = stand_in(usize::MAX).await;
    let error = sign_in(address, "").await;
    assert_eq!((error.code(), error.class()), ("txn.access_denied", Class::Rejected));
    assert_eq!(passwords.lock().unwrap().len(), 2);
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("X-Amz") && !shown.contains("hush"), "{shown}");
}
