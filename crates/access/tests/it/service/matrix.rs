//! Permission × role × scope: all of it.

use leasehold_access::{Permission, Principal, StandardRole};

use super::fixture::{anyone, binding, server};

const OWN: &str = "orders";
const FOREIGN: &str = "billing";
const SYSTEM: &str = "_system";

/// Where a role of one permission is bound.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    Nowhere,
    Own,
    System,
}

#[tokio::test]
async fn permission_counts_where_it_is_bound_and_where_the_key_is_good_for() {
    let server = server();
    server.namespace(OWN).await;
    server.namespace(FOREIGN).await;
    // Bound, scope of the key, namespace asked for: whether what the role allows is allowed.
    let table = [
        (Bound::Nowhere, None, OWN, false),
        (Bound::Nowhere, None, SYSTEM, false),
        (Bound::Own, None, OWN, true),
        (Bound::Own, None, FOREIGN, false),
        (Bound::Own, None, SYSTEM, false),
        (Bound::Own, None, "", false),
        (Bound::Own, None, "unknown", false),
        (Bound::Own, Some(OWN), OWN, true),
        (Bound::Own, Some(OWN), FOREIGN, false),
        (Bound::Own, Some(OWN), SYSTEM, false),
        (Bound::Own, Some(FOREIGN), OWN, false),
        (Bound::Own, Some(FOREIGN), FOREIGN, false),
        (Bound::Own, Some(SYSTEM), OWN, false),
        (Bound::System, None, OWN, true),
        (Bound::System, None, FOREIGN, true),
        (Bound::System, None, SYSTEM, true),
        (Bound::System, None, "", true),
        (Bound::System, None, "unknown", true),
        (Bound::System, None, "not a name", true),
        (Bound::System, Some(OWN), OWN, true),
        (Bound::System, Some(OWN), FOREIGN, false),
        (Bound::System, Some(OWN), SYSTEM, false),
        (Bound::System, Some(OWN), "", false),
        (Bound::System, Some(OWN), "unknown", false),
        (Bound::System, Some(OWN), "not a name", false),
        (Bound::System, Some(SYSTEM), OWN, false),
        (Bound::System, Some(SYSTEM), SYSTEM, true),
    ];
    let mut asked = 0;
    for granted in Permission::ALL {
        let ann = server.user(&format!("user of {granted}")).await;
        for space in [OWN, SYSTEM] {
            server.role(space, granted.as_str(), &[granted]).await;
        }
        let mut bound_at = Bound::Nowhere;
        for (bound, scope, asked_for, allowed) in table {
            if bound != bound_at {
                if bound_at == Bound::Own {
                    let unbind = binding(OWN, granted.as_str(), &ann);
                    server.delete_role_binding(&anyone(), &unbind).await.expect("unbinds");
                }
                server.bind(if bound == Bound::Own { OWN } else { SYSTEM }, granted.as_str(), &ann).await;
                bound_at = bound;
            }
            let principal = Principal::user(ann.clone(), scope.map(str::to_owned));
            for permission in Permission::ALL {
                let answer = server.authorise(&principal, asked_for, permission).await;
                let expected = allowed && permission == granted;
                assert_eq!(
                    answer.is_ok(),
                    expected,
                    "{granted} bound {bound:?}, key for {scope:?}, {permission} in '{asked_for}': {answer:?}"
                );
                if let Err(denied) = answer {
                    assert_eq!((denied.reply_code(), denied.code()), (403, "access.denied"));
                }
                asked += 1;
            }
        }
    }
    assert_eq!(asked, 31 * 31 * table.len());
}

#[tokio::test]
async fn standard_roles_allow_exactly_their_permissions_everywhere() {
    let server = server();
    for standard in StandardRole::ALL {
        let user_id = server.user(standard.name()).await;
        server.bind(SYSTEM, standard.name(), &user_id).await;
        let principal = Principal::user(user_id, None);
        for permission in Permission::ALL {
            let allowed = standard.permissions().contains(&permission);
            for space in [SYSTEM, "anywhere"] {
                let answer = server.authorise(&principal, space, permission).await;
                assert_eq!(answer.is_ok(), allowed, "{permission} for {standard:?} in {space}");
            }
        }
    }
}

#[tokio::test]
async fn roles_of_one_user_add_up() {
    let server = server();
    server.namespace(OWN).await;
    let ann = server.user("ann").await;
    for (space, permission) in
        [(OWN, Permission::QueueLease), (OWN, Permission::QueueComplete), (SYSTEM, Permission::QueueStats)]
    {
        server.role(space, permission.as_str(), &[permission]).await;
        server.bind(space, permission.as_str(), &ann).await;
    }
    let principal = Principal::user(ann, None);
    for permission in [Permission::QueueLease, Permission::QueueComplete, Permission::QueueStats] {
        server.authorise(&principal, OWN, permission).await.expect("has a role for it");
    }
    assert!(server.authorise(&principal, OWN, Permission::QueueProduce).await.is_err());
}

#[tokio::test]
async fn first_hundred_bindings_of_a_namespace_count() {
    let server = server();
    let ann = server.user("ann").await;
    for number in 0..101 {
        server.role(SYSTEM, &format!("role {number}"), &[]).await;
        server.bind(SYSTEM, &format!("role {number}"), &ann).await;
    }
    // Ids are random within a second: which role is the last to count is told by the list.
    let bindings =
        server.list_role_bindings(&anyone(), "", &ann, &Default::default()).await.expect("answers");
    let roles = server.list_roles(&anyone(), "", &Default::default()).await.expect("answers");
    let principal = Principal::user(ann, None);
    for (place, counts) in [(99, true), (100, false)] {
        let role = roles.iter().find(|role| role.id == bindings[place].role_id).expect("is listed");
        let granted = super::fixture::role(SYSTEM, &role.name, &[Permission::QueueLease]);
        server.update_role(&anyone(), &granted).await.expect("updates");
        assert_eq!(server.authorise(&principal, "", Permission::QueueLease).await.is_ok(), counts, "{place}");
        let empty = super::fixture::role(SYSTEM, &role.name, &[]);
        server.update_role(&anyone(), &empty).await.expect("updates");
    }
}
