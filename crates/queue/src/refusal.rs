//! Requests that cannot be right, in the words that queue clients know.

use std::time::Duration;

use leasehold_core::duration;

/// Why a request is refused before anything happens. The text is part of the contract: a constant part, `; `, and
/// details.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the text of each says it")]
pub enum Refusal {
    #[error("queue name is invalid; cannot be greater than '512' characters")]
    QueueNameLength,
    #[error("queue name is invalid; queue name cannot be empty")]
    QueueNameEmpty,
    #[error("queue name is invalid; '{name}' cannot contain whitespace")]
    QueueNameWhitespace { name: String },
    #[error("queue name is invalid; '{name}' cannot contain '~' character")]
    QueueNameTilde { name: String },
    #[error("queue name is invalid; cannot contain NUL character")]
    QueueNameNul,
    #[error("dead queue is invalid; cannot contain NUL character")]
    DeadQueueNul,
    #[error("namespace name is invalid; cannot contain NUL character")]
    NamespaceNul,
    #[error("{field} is invalid; cannot contain NUL character")]
    TextNul { field: &'static str },
    #[error("{field} is invalid; must be between the years 1 and 9999")]
    TimeRange { field: &'static str },
    #[error("{field} is invalid; cannot be greater than '{limit}' characters")]
    TextLength { field: &'static str, limit: usize },
    #[error("dead queue is invalid; cannot be greater than '500' characters")]
    DeadQueueLength,
    #[error("dead queue is invalid; '{name}' cannot contain whitespace")]
    DeadQueueWhitespace { name: String },
    #[error("dead queue is invalid; '{name}' cannot contain '~' character")]
    DeadQueueTilde { name: String },
    #[error("namespace name is invalid; cannot be greater than '256' characters")]
    NamespaceLength,
    #[error("namespace name is invalid; cannot be empty")]
    NamespaceEmpty,
    #[error("namespace name is invalid; '{name}' cannot contain whitespace")]
    NamespaceWhitespace { name: String },
    #[error("namespace name is invalid; '{name}' cannot contain '~' character")]
    NamespaceTilde { name: String },
    #[error("namespace name is invalid; '{name}' cannot contain ':' character")]
    NamespaceColon { name: String },

    #[error("invalid storage id; '{id}': Valid encoded KSUIDs are 27 characters")]
    ItemIdLength { id: String },
    #[error(
        "invalid storage id; '{id}': Valid encoded KSUIDs are bounded by 000000000000000000000000000 and \
         aWgEPTl1tmebfsQzFP4bxwgy80V"
    )]
    ItemIdBounds { id: String },

    #[error("request timeout is required; '5m' is recommended, 15m is the maximum")]
    TimeoutRequired,
    #[error("request timeout is invalid; maximum timeout is '15m' but '{}' was requested", duration::format(*requested))]
    TimeoutTooLong { requested: Duration },
    #[error("request timeout is invalid; minimum timeout is '10ms' but '{}' was requested", duration::format(*requested))]
    TimeoutTooShort { requested: Duration },
    #[error("items cannot be empty; at least one item is required")]
    ProduceEmpty,
    #[error("items is invalid; max_produce_batch_size is {limit} but received {received}")]
    ProduceTooMany { limit: usize, received: usize },
    #[error("items is invalid; the store takes at most {limit} {unit}, received {received}")]
    StoreLimit { unit: &'static str, limit: usize, received: usize },
    #[error("invalid client id; cannot be empty")]
    ClientIdEmpty,
    #[error("invalid batch size; must be greater than zero")]
    LeaseEmpty,
    #[error("invalid batch size; max_lease_batch_size is {limit}, but {requested} was requested")]
    LeaseTooMany { limit: usize, requested: usize },
    #[error("duplicate client id; a client cannot make multiple leased requests to the same queue")]
    ClientIdDuplicate,
    #[error("lease timeout is invalid; must be more than 0s and at most the expire timeout of the queue")]
    LeaseTimeoutOverride,
    #[error("partition is invalid; '{partition}' is not a valid partition")]
    PartitionUnknown { partition: i64 },
    #[error("ids is invalid; list of ids cannot be empty")]
    CompleteEmpty,
    #[error("ids is invalid; max_complete_batch_size is {limit} but received {received}")]
    CompleteTooMany { limit: usize, received: usize },
    #[error("items is invalid; list of items cannot be empty")]
    RetryEmpty,
    #[error("items is invalid; max_complete_batch_size is {limit} but received {received}")]
    RetryTooMany { limit: usize, received: usize },
    #[error("items is invalid; cannot be empty")]
    ImportEmpty,
    #[error("ids is invalid; cannot be empty")]
    DeleteEmpty,
    #[error("invalid clear request; one of 'queue', 'scheduled' must be true")]
    ClearNothing,

    #[error("limit is invalid; limit cannot be negative")]
    LimitNegative,
    #[error("limit is invalid; cannot be greater than {limit}")]
    LimitTooLarge { limit: usize },
    #[error("limit is invalid; the first {items} items have more than {limit} bytes, ask for fewer")]
    ListTooLong { items: usize, limit: usize },
    #[error("pivot is invalid; '{pivot}' cannot contain '~' character")]
    PivotTilde { pivot: String },

    #[error("dead_queue cannot reference itself")]
    DeadQueueSelf,
    #[error("dead_queue does not exist; '{name}' was not found, create it first")]
    DeadQueueMissing { name: String },
    #[error("dead_queue is invalid; '{name}' already has its own dead_queue configured")]
    DeadQueueChained { name: String },
    #[error("reference field is invalid; cannot be greater than '2000' characters")]
    ReferenceLength,
    #[error("max attempts is invalid; cannot be greater than 65536")]
    MaxAttemptsTooLarge,
    #[error("max attempts is invalid; cannot be negative number")]
    MaxAttemptsNegative,
    #[error("partitions is invalid; cannot be less than 1")]
    PartitionsTooFew,
    #[error("partitions is invalid; cannot be greater than {limit}")]
    PartitionsTooMany { limit: u32 },
    #[error("partitions is invalid; partition '{partition}' is there twice")]
    PartitionTwice { partition: u32 },
    #[error("lease timeout is invalid; cannot be empty")]
    LeaseTimeoutEmpty,
    #[error("expire timeout is invalid; cannot be empty")]
    ExpireTimeoutEmpty,
    #[error(
        "lease timeout is too long; {} cannot be greater than the expire timeout {}",
        duration::format(*lease_timeout),
        duration::format(*expire_timeout)
    )]
    LeaseTimeoutTooLong { lease_timeout: Duration, expire_timeout: Duration },
}
