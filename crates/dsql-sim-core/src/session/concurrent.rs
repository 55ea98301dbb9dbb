//! Tells a constraint that was broken by somebody who committed since the snapshot from one that was broken before.

use super::Session;
use crate::{
    backend::Call,
    catalogue::{literal, quoted},
    engine::{Mode, Work, Worker},
    failure::Failure,
};

/// `Key (a, b)=(1, x) already exists.` in parts.
#[derive(Debug, PartialEq, Eq)]
struct Key<'a> {
    columns: &'a str,
    values: &'a str,
}

impl Session {
    /// Whether a failed write fails only because of rows its transaction cannot see, or still sees.
    pub(super) async fn is_concurrent(
        &self,
        worker: &mut Worker,
        failure: &Failure,
    ) -> Result<bool, Failure> {
        if worker.mode != Mode::Deferred {
            return Ok(false);
        }
        let Some(key) = failure.field(b'D').and_then(Key::read) else { return Ok(false) };
        let Some(table) = failure.field(b't') else { return Ok(false) };
        let schema = failure.field(b's').unwrap_or("public");
        let own = format!("{}.{}", quoted(schema), quoted(table));
        match failure.sqlstate() {
            // Two rows of one statement with one key are no conflict: neither is committed.
            "23505" => {
                let mine = sees(worker, &own, &key).await?;
                Ok(!mine && self.is_committed(&own, &key).await?)
            }
            "23503" => self.is_reference_concurrent(worker, failure, &own, &key).await,
            _ => Ok(false),
        }
    }

    /// PostgreSQL looks at references as they are now; the transaction has lost if they were not so in its snapshot.
    async fn is_reference_concurrent(
        &self,
        worker: &mut Worker,
        failure: &Failure,
        child: &str,
        key: &Key<'_>,
    ) -> Result<bool, Failure> {
        let Some(constraint) = failure.field(b'n') else { return Ok(false) };
        let detail = failure.field(b'D').unwrap_or_default();
        if detail.contains("is still referenced") {
            // The message names the parent's columns; the child's are in the catalogue.
            let Some(columns) = self.child_columns(child, constraint).await? else { return Ok(false) };
            let key = Key { columns: &columns, values: key.values };
            return Ok(!sees(worker, child, &key).await?);
        }
        let Some((parent, columns)) = self.parent(child, constraint).await? else { return Ok(false) };
        sees(worker, &parent, &Key { columns: &columns, values: key.values }).await
    }

    async fn child_columns(&self, child: &str, constraint: &str) -> Result<Option<String>, Failure> {
        let sql = format!(
            "SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.place) \
               FROM pg_constraint f CROSS JOIN LATERAL unnest(f.conkey) WITH ORDINALITY AS k(attnum, place) \
               JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.attnum \
              WHERE f.conrelid = {}::regclass AND f.conname = {}",
            literal(child),
            literal(constraint)
        );
        self.shared().catalogue.ask(&sql).await
    }

    async fn parent(&self, child: &str, constraint: &str) -> Result<Option<(String, String)>, Failure> {
        let of = |what: &str| {
            format!(
                "SELECT {what} FROM pg_constraint f \
                  CROSS JOIN LATERAL unnest(f.confkey) WITH ORDINALITY AS k(attnum, place) \
                  JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.attnum \
                 WHERE f.conrelid = {}::regclass AND f.conname = {}",
                literal(child),
                literal(constraint)
            )
        };
        let catalogue = &self.shared().catalogue;
        let columns = catalogue.ask(&of("string_agg(quote_ident(a.attname), ', ' ORDER BY k.place)")).await?;
        let parent = catalogue.ask(&of("min(f.confrelid::regclass::text)")).await?;
        Ok(parent.zip(columns))
    }

    async fn is_committed(&self, table: &str, key: &Key<'_>) -> Result<bool, Failure> {
        Ok(self.shared().catalogue.ask(&key.exists(table)).await?.as_deref() == Some("t"))
    }
}

/// Whether a row with this key is there for the transaction, after all it wrote itself.
async fn sees(worker: &mut Worker, table: &str, key: &Key<'_>) -> Result<bool, Failure> {
    let call = Call::text(&key.exists(table));
    let replays = !worker.log.is_empty();
    let epilogue = if replays { crate::engine::UNDO } else { "" };
    let performed = worker.perform(Work { replays, calls: &[call], epilogue, ..Work::default() }).await?;
    if performed.failure.is_some() {
        return Ok(false);
    }
    let seen =
        performed.outcomes.into_iter().next_back().and_then(|outcome| outcome.text_rows().pop()?.pop()?);
    Ok(seen.as_deref() == Some("t"))
}

impl<'a> Key<'a> {
    fn read(detail: &'a str) -> Option<Key<'a>> {
        let rest = detail.strip_prefix("Key (")?;
        let (columns, rest) = rest.split_once(")=(")?;
        let end = [") already exists", ") is not present", ") is still referenced", ") conflicts with"]
            .iter()
            .find_map(|end| rest.rfind(end))?;
        Some(Key { columns, values: &rest[..end] })
    }

    /// The message shows values as they are printed, so they are compared as such.
    fn exists(&self, table: &str) -> String {
        format!(
            "SELECT EXISTS (SELECT 1 FROM {table} WHERE concat_ws(', ', {}) = {})",
            self.columns,
            literal(self.values)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn key_of_a_message_is_taken_apart() {
        let key = Key::read("Key (a, lower(b))=(1, x)=(y) already exists.").unwrap();
        assert_eq!(key, Key { columns: "a, lower(b)", values: "1, x)=(y" });
        assert!(key.exists("t").ends_with("WHERE concat_ws(', ', a, lower(b)) = '1, x)=(y')"));
    }

    #[test]
    fn other_details_are_no_key() {
        assert_eq!(Key::read("Failing row contains (1, null)."), None);
    }
}
