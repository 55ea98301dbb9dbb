//! The record of a queue as bytes. Its name is the key.

use std::time::Duration;

use leasehold_core::Timestamp;

use super::fields::{Fields, Malformed, put_len, put_text, put_timestamp};
use crate::{Namespace, PartitionInfo, QueueInfo, QueueName, QueueOptions};

const VERSION: u8 = 1;

pub(super) fn encode(info: &QueueInfo) -> Vec<u8> {
    let mut record = vec![VERSION];
    put_text(&mut record, info.namespace.as_str());
    put_duration(&mut record, info.options.lease_timeout);
    put_duration(&mut record, info.options.expire_timeout);
    record.extend_from_slice(&info.options.max_attempts.to_le_bytes());
    put_text(&mut record, info.options.dead_queue.as_ref().map_or("", QueueName::as_str));
    put_text(&mut record, &info.options.reference);
    record.extend_from_slice(&info.options.requested_partitions.to_le_bytes());
    put_timestamp(&mut record, info.created_at);
    put_timestamp(&mut record, info.updated_at);
    put_len(&mut record, info.partitions.len());
    for partition in &info.partitions {
        record.extend_from_slice(&partition.number.to_le_bytes());
        put_text(&mut record, &partition.store);
        record.push(partition.read_only.into());
    }
    record
}

/// When the queue was created; what comes behind it is not looked at.
pub(super) fn created_at(record: &[u8]) -> Result<Timestamp, Malformed> {
    head(&mut Fields::new(record)).map(|(_, _, created_at)| created_at)
}

fn head(fields: &mut Fields<'_>) -> Result<(Namespace, QueueOptions, Timestamp), Malformed> {
    if fields.u8()? != VERSION {
        return Err("it was written by a later release");
    }
    let namespace = fields.text()?.parse().map_err(|_| "its namespace is not one")?;
    let options = QueueOptions {
        lease_timeout: duration(fields)?,
        expire_timeout: duration(fields)?,
        max_attempts: fields.u32()?,
        dead_queue: match fields.text()? {
            "" => None,
            dead_queue => Some(dead_queue.parse().map_err(|_| "its dead queue's name is not one")?),
        },
        reference: fields.text()?.to_owned(),
        requested_partitions: fields.u32()?,
    };
    Ok((namespace, options, fields.timestamp()?))
}

pub(super) fn decode(name: &str, record: &[u8]) -> Result<QueueInfo, Malformed> {
    let mut fields = Fields::new(record);
    let (namespace, options, created_at) = head(&mut fields)?;
    let name = name.parse().map_err(|_| "its name is not one")?;
    let updated_at = fields.timestamp()?;
    let mut partitions = Vec::new();
    for _ in 0..fields.len()? {
        let (number, store) = (fields.u32()?, fields.text()?.to_owned());
        partitions.push(PartitionInfo { number, store, read_only: fields.flag()? });
    }
    fields.end()?;
    Ok(QueueInfo { name, namespace, options, partitions, created_at, updated_at })
}

fn put_duration(record: &mut Vec<u8>, duration: Duration) {
    record.extend_from_slice(&duration.as_secs().to_le_bytes());
    record.extend_from_slice(&duration.subsec_nanos().to_le_bytes());
}

fn duration(fields: &mut Fields<'_>) -> Result<Duration, Malformed> {
    let (seconds, nanos) = (fields.u64()?, fields.u32()?);
    if nanos >= 1_000_000_000 {
        return Err("a duration has more than a second of nanoseconds");
    }
    Ok(Duration::new(seconds, nanos))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn queues()(
            name in "[^~\\s\\x00]{1,60}",
            namespace in "[^~:\\s\\x00]{1,40}",
            (lease, expire) in (durations(), durations()),
            (max_attempts, requested_partitions) in any::<(u32, u32)>(),
            dead_queue in proptest::option::of("[^~\\s\\x00]{1,60}"),
            reference in ".{0,200}",
            partitions in proptest::collection::vec((any::<u32>(), ".{0,20}", any::<bool>()), 0..200),
            (created_at, updated_at) in any::<(i64, i64)>(),
        ) -> QueueInfo {
            QueueInfo {
                name: name.parse().expect("a name"),
                namespace: namespace.parse().expect("a namespace"),
                options: QueueOptions {
                    lease_timeout: lease,
                    expire_timeout: expire,
                    max_attempts,
                    dead_queue: dead_queue.map(|name| name.parse().expect("a name")),
                    reference,
                    requested_partitions,
                },
                partitions: partitions
                    .into_iter()
                    .map(|(number, store, read_only)| PartitionInfo { number, store, read_only })
                    .collect(),
                created_at: Timestamp::from_micros(created_at),
                updated_at: Timestamp::from_micros(updated_at),
            }
        }
    }

    fn durations() -> impl Strategy<Value = Duration> {
        (any::<u64>(), 0_u32..1_000_000_000).prop_map(|(seconds, nanos)| Duration::new(seconds, nanos))
    }

    proptest! {
        #[test]
        fn record_reads_back_whole(info in queues()) {
            prop_assert_eq!(created_at(&encode(&info)), Ok(info.created_at));
            prop_assert_eq!(decode(info.name.as_str(), &encode(&info)).expect("a record of ours"), info);
        }

        #[test]
        fn record_that_is_cut_or_longer_is_refused(info in queues(), cut: prop::sample::Index) {
            let record = encode(&info);
            prop_assert!(decode(info.name.as_str(), &record[..cut.index(record.len())]).is_err());
            prop_assert!(decode(info.name.as_str(), &[&record[..], &[0]].concat()).is_err());
        }

        #[test]
        fn no_bytes_make_reading_panic(bytes: Vec<u8>) {
            let _ = decode("orders", &bytes).is_ok();
        }
    }
}
