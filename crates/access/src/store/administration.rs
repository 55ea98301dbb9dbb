//! Decides for every store whether it can be administered.
//!
//! No caller can grant a right that no caller holds. A store without an administrator can be repaired only from outside, so
//! each write that takes rights away ([`Withdrawn`](super::Withdrawn)) compares this before and after.

use std::collections::{BTreeMap, BTreeSet};

use leasehold_core::Timestamp;

use crate::{ANONYMOUS, Permission, PermissionSet};

/// Bindings of one user in one namespace that count; more are not looked at.
pub(crate) const BINDINGS_MAX: usize = 100;

/// A role that a user has in `_system`.
pub(super) struct SystemRole {
    pub(super) binding_id: String,
    pub(super) user_id: String,
    pub(super) permissions: PermissionSet,
}

/// The users that hold every permission in `_system`.
pub(super) fn administrators(roles: impl IntoIterator<Item = SystemRole>) -> BTreeSet<String> {
    let mut by_user: BTreeMap<String, BTreeMap<String, PermissionSet>> = BTreeMap::new();
    for role in roles {
        by_user.entry(role.user_id).or_default().insert(role.binding_id, role.permissions);
    }
    let holds_all = |bound: &BTreeMap<String, PermissionSet>| {
        let counted = bound.values().take(BINDINGS_MAX);
        counted.fold(PermissionSet::EMPTY, |held, role| held.union(*role)).contains_all(PermissionSet::all())
    };
    by_user.into_iter().filter(|(_, bound)| holds_all(bound)).map(|(user_id, _)| user_id).collect()
}

/// Whether a caller can act as an administrator: without a key, or by one that has not expired. `expiries` are those
/// of the administrators' keys without a namespace scope: a key that has one acts nowhere else.
pub(super) fn is_administered(
    administrators: &BTreeSet<String>,
    expiries: impl IntoIterator<Item = Option<Timestamp>>,
    now: Timestamp,
) -> bool {
    let is_good = |expires_at: Option<Timestamp>| expires_at.is_none_or(|expires_at| now < expires_at);
    administrators.contains(ANONYMOUS) || expiries.into_iter().any(is_good)
}

impl PermissionSet {
    /// Every permission.
    fn all() -> Self {
        Permission::ALL.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(binding: usize, user_id: &str, permissions: &[Permission]) -> SystemRole {
        SystemRole {
            binding_id: format!("{binding:03}"),
            user_id: user_id.to_owned(),
            permissions: permissions.iter().collect(),
        }
    }

    #[test]
    fn administrator_holds_everything_by_all_roles_together() {
        let (some, rest) = Permission::ALL.split_at(7);
        let of = |roles: Vec<SystemRole>| administrators(roles).into_iter().collect::<Vec<_>>();
        assert_eq!(of(vec![role(1, "ann", some), role(2, "ann", rest)]), ["ann"]);
        assert!(of(vec![role(1, "ann", some), role(2, "bob", rest)]).is_empty());
        assert!(of(vec![role(1, "ann", &Permission::ALL[1..])]).is_empty());
    }

    #[test]
    fn bindings_beyond_the_counted_ones_make_no_administrator() {
        let with = |others: usize| {
            let others = (0..others).map(|number| role(number, "ann", &[]));
            administrators(others.chain([role(999, "ann", &Permission::ALL)])).len()
        };
        assert_eq!((with(BINDINGS_MAX - 1), with(BINDINGS_MAX)), (1, 0));
    }

    #[test]
    fn key_is_good_until_its_expiry_and_anonymous_needs_none() {
        let (ann, anyone) = (BTreeSet::from(["ann".to_owned()]), BTreeSet::from([ANONYMOUS.to_owned()]));
        let at = Timestamp::from_micros;
        let of = |expiries: &[Option<Timestamp>]| is_administered(&ann, expiries.iter().copied(), at(10));
        assert!(!of(&[]));
        assert!(!of(&[Some(at(10))]), "refused from then on");
        assert!(of(&[Some(at(9)), Some(at(11))]));
        assert!(of(&[None]));
        assert!(is_administered(&anyone, [], at(10)));
    }
}
