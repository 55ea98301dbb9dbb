//! Clusters: what each knows of the others, and which hosts are in this one.

mod membership;
mod metadata;

pub use membership::{ClusterMember, Heartbeat, MemberFilter, Membership};
pub use metadata::{ClusterMetadata, ClusterMetadatas};
