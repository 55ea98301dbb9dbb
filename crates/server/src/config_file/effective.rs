//! A configuration as a file would say it, with everything in it that was not said and without what is secret.

use std::fmt::{self, Display, Write as _};

use leasehold_access::Driver;
use leasehold_core::duration;

use crate::{Config, QueueConfig, StoreLocation, TlsConfig};

/// A configuration as YAML. Passwords are not in it.
pub struct EffectiveConfig<'a>(pub &'a Config);

impl Display for EffectiveConfig<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { queues, locks, limits, timeouts, .. } = self.0;
        let config = self.0;
        writeln!(out, "address: {}", quoted(&config.address))?;
        if !config.allowed_hosts.is_empty() {
            let names: Vec<_> = config.allowed_hosts.iter().map(quoted).collect();
            writeln!(out, "allowed-hosts: [{}]", names.join(", "))?;
        }
        if let Some(address) = &config.admin_address {
            writeln!(out, "admin-address: {}", quoted(address))?;
        }
        writeln!(out, "metrics:\n  enabled: {}", config.metrics_enabled)?;
        if let Some(tls) = &config.tls {
            write_tls(out, tls)?;
        }
        if let Some(tracing) = &config.tracing {
            writeln!(out, "tracing:\n  endpoint: {}", quoted(&tracing.endpoint))?;
            writeln!(out, "  service-name: {}", quoted(&tracing.service_name))?;
            writeln!(out, "  sample-ratio: {}", tracing.sample_ratio)?;
        }
        if let Some(address) = &config.test_hooks {
            writeln!(out, "test-hooks:\n  address: {}", quoted(address))?;
        }
        match &config.store {
            // Without its password it could not be read back.
            StoreLocation::Postgres(connection) | StoreLocation::Dsql(connection) => {
                writeln!(out, "# store: {connection}")?;
            }
            place => writeln!(out, "store: {}", quoted(place))?,
        }
        writeln!(out, "must-exist: {}", config.must_exist)?;
        out.write_str("locks:\n")?;
        match &locks.backend {
            Some(backend) => writeln!(out, "  # backend: {backend}")?,
            None => writeln!(out, "  # backend: as the store")?,
        }
        let options = &locks.options;
        writeln!(out, "  table-name: {}", quoted(options.tables.locks()))?;
        writeln!(out, "  fence-table-name: {}", quoted(options.tables.fences()))?;
        writeln!(out, "  key-prefix: {}", quoted(options.key_prefix.as_str()))?;
        writeln!(out, "  collection: {}", quoted(options.collections.locks()))?;
        writeln!(out, "  fence-collection: {}", quoted(options.collections.fences()))?;
        writeln!(out, "  cleanup-in-is-locked: {}", options.cleanup_in_is_locked)?;
        let driver = match config.auth {
            Driver::None => "none",
            Driver::Internal => "internal",
        };
        writeln!(out, "auth-backend:\n  driver: {driver}")?;
        // Locations, not drivers and their settings: these lines are for reading.
        for (key, place) in [("queue-storage", &queues.records), ("auth-storage", &queues.access)] {
            match place {
                Some(place) => writeln!(out, "# {key}: {place}")?,
                None => writeln!(out, "# {key}: as the store")?,
            }
        }
        if queues.partitions.is_empty() {
            out.write_str("# partition-storage: as the store\n")?;
        }
        for place in &queues.partitions {
            writeln!(
                out,
                "# partition-storage {}: {}, affinity {}",
                place.name, place.store, place.affinity
            )?;
        }
        if !queues.queues.is_empty() {
            out.write_str("queues:\n")?;
            queues.queues.iter().try_for_each(|queue| write_queue(out, queue))?;
        }
        out.write_str("limits:\n")?;
        for (key, limit) in [
            ("connections", limits.connections),
            ("streams", limits.streams as usize),
            ("produce-items", limits.produce_items),
            ("lease-items", limits.lease_items),
            ("complete-items", limits.complete_items),
            ("requests-per-queue", limits.requests_per_queue),
            ("produce-body-bytes", limits.produce_body_bytes),
            ("body-bytes", limits.body_bytes),
            ("lease-answer-bytes", limits.lease_answer_bytes),
            ("answer-bytes", limits.answer_bytes),
        ] {
            writeln!(out, "  {key}: {limit}")?;
        }
        out.write_str("timeouts:\n")?;
        for (key, timeout) in [
            ("idle", timeouts.idle),
            ("body", timeouts.body),
            ("write", timeouts.write),
            ("handshake", timeouts.handshake),
            ("stop", config.stop_timeout),
        ] {
            writeln!(out, "  {key}: {}", duration::format(timeout))?;
        }
        Ok(())
    }
}

fn write_tls(out: &mut fmt::Formatter<'_>, tls: &TlsConfig) -> fmt::Result {
    out.write_str("tls:\n")?;
    let files = [("certificate-file", &tls.certificate_file), ("key-file", &tls.key_file)].into_iter();
    for (key, file) in files.chain(tls.client_ca_file.as_ref().map(|file| ("client-ca-file", file))) {
        writeln!(out, "  {key}: {}", quoted(file.display()))?;
    }
    writeln!(out, "  client-auth: {}", tls.client_auth.as_str())?;
    writeln!(out, "  min-version: {}", quoted(tls.min_version.as_str()))?;
    writeln!(out, "  reload-interval: {}", duration::format(tls.reload_interval))
}

fn write_queue(out: &mut fmt::Formatter<'_>, queue: &QueueConfig) -> fmt::Result {
    let QueueConfig { name, change, placement } = queue;
    writeln!(out, "  - name: {}", quoted(name.as_str()))?;
    if let Some(dead_queue) = &change.dead_queue {
        writeln!(out, "    dead-queue: {}", quoted(dead_queue.as_str()))?;
    }
    writeln!(out, "    lease-timeout: {}", duration::format(change.lease_timeout))?;
    writeln!(out, "    expire-timeout: {}", duration::format(change.expire_timeout))?;
    writeln!(out, "    max-attempts: {}", change.max_attempts)?;
    if !change.reference.is_empty() {
        writeln!(out, "    reference: {}", quoted(&change.reference))?;
    }
    writeln!(out, "    requested-partitions: {}", change.requested_partitions)?;
    // As the places themselves: these lines are for reading.
    for partition in placement.pinned() {
        let place = match &partition.store {
            Some(store) => format!("in {}", quoted(store)),
            None => "by affinity".to_owned(),
        };
        let read_only = if partition.read_only { ", read-only" } else { "" };
        writeln!(out, "    # partition {}: {place}{read_only}", partition.number)?;
    }
    Ok(())
}

/// In double quotes, which YAML reads as JSON does: any text is one value and one line.
fn quoted(text: impl Display) -> String {
    let mut quoted = String::from("\"");
    for letter in text.to_string().chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}
