//! `limits:` and `timeouts:` of the file. What it does not say stays at its default.

use std::num::NonZeroU32;
use std::time::Duration;

use leasehold_core::duration;
use serde::Deserialize;

use crate::{Error, LimitsConfig, Result, TimeoutsConfig};

/// None of them may be zero: that would be a server that serves nobody.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Limits {
    connections: Option<NonZeroU32>,
    streams: Option<NonZeroU32>,
    produce_items: Option<NonZeroU32>,
    lease_items: Option<NonZeroU32>,
    complete_items: Option<NonZeroU32>,
    requests_per_queue: Option<NonZeroU32>,
    produce_body_bytes: Option<NonZeroU32>,
    body_bytes: Option<NonZeroU32>,
    lease_answer_bytes: Option<NonZeroU32>,
    answer_bytes: Option<NonZeroU32>,
}

impl Limits {
    pub(super) fn config(&self) -> LimitsConfig {
        let or = |given: Option<NonZeroU32>, default| given.map_or(default, |given| given.get() as usize);
        let default = LimitsConfig::default();
        LimitsConfig {
            connections: or(self.connections, default.connections),
            streams: self.streams.map_or(default.streams, NonZeroU32::get),
            produce_items: or(self.produce_items, default.produce_items),
            lease_items: or(self.lease_items, default.lease_items),
            complete_items: or(self.complete_items, default.complete_items),
            requests_per_queue: or(self.requests_per_queue, default.requests_per_queue),
            produce_body_bytes: or(self.produce_body_bytes, default.produce_body_bytes),
            body_bytes: or(self.body_bytes, default.body_bytes),
            lease_answer_bytes: or(self.lease_answer_bytes, default.lease_answer_bytes),
            answer_bytes: or(self.answer_bytes, default.answer_bytes),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Timeouts {
    idle: Option<String>,
    body: Option<String>,
    write: Option<String>,
    handshake: Option<String>,
    stop: Option<String>,
}

impl Timeouts {
    pub(super) fn config(&self) -> Result<TimeoutsConfig> {
        let default = TimeoutsConfig::default();
        Ok(TimeoutsConfig {
            idle: positive("timeouts.idle", &self.idle, default.idle)?,
            body: positive("timeouts.body", &self.body, default.body)?,
            write: positive("timeouts.write", &self.write, default.write)?,
            handshake: positive("timeouts.handshake", &self.handshake, default.handshake)?,
        })
    }

    /// How long a stop may take.
    pub(super) fn stop(&self, default: Duration) -> Result<Duration> {
        positive("timeouts.stop", &self.stop, default)
    }
}

fn positive(field: &'static str, given: &Option<String>, default: Duration) -> Result<Duration> {
    let Some(given) = given else { return Ok(default) };
    let parsed = duration::parse(given).ok().filter(|timeout| !timeout.is_zero());
    parsed.ok_or_else(|| Error::Timeout { field, given: given.clone() })
}
