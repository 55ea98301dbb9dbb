//! Tells a constraint that was broken by somebody who committed since the snapshot from one that was broken before.

use super::{
    Session,
    statement::{ATTEMPTS_MAX, pause},
};
use crate::{
    backend::Call,
    catalogue::{literal, quoted},
    engine::{Mode, Push, UNDO, Work, Worker},
    failure::Failure,
};

/// Who broke a constraint that a write has met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breach {
    /// The write itself: its transaction can see why.
    Own,
    /// Somebody who committed since the snapshot: the transaction has lost.
    Others,
    /// Nobody any more. A row that came was gone before it could be looked at, or the write is against itself, as two of its
    /// rows with one key are; done again, the latter is met again.
    Nobody,
}

/// What a transaction sees of a key, after all it wrote itself.
enum Sight {
    There,
    Missing,
    /// It has lost what it wrote, so that nothing can be said.
    Lost,
}

/// `Key (a, b)=(1, x) already exists.` in parts.
#[derive(Debug, PartialEq, Eq)]
struct Key<'a> {
    columns: &'a str,
    values: &'a str,
}

impl Session {
    /// Because of whom a write has failed: others, if only because of rows its transaction cannot see, or still sees.
    /// `tables` are those of the transaction.
    pub(super) async fn breach(
        &self,
        worker: &mut Worker,
        tables: &[u32],
        failure: &Failure,
    ) -> Result<Breach, Failure> {
        if worker.mode != Mode::Deferred {
            return Ok(Breach::Own);
        }
        let Some(key) = failure.field(b'D').and_then(Key::read) else { return Ok(Breach::Own) };
        let Some(table) = failure.field(b't') else { return Ok(Breach::Own) };
        let schema = failure.field(b's').unwrap_or("public");
        let own = format!("{}.{}", quoted(schema), quoted(table));
        match failure.sqlstate() {
            "23505" => Ok(match self.sight(worker, tables, &own, &key).await? {
                Sight::There => Breach::Own,
                Sight::Lost => Breach::Others,
                Sight::Missing if self.is_committed(&own, &key).await? => Breach::Others,
                Sight::Missing => Breach::Nobody,
            }),
            "23503" => self.breach_of_reference(worker, tables, failure, &own, &key).await,
            _ => Ok(Breach::Own),
        }
    }

    /// PostgreSQL looks at references as they are now; the transaction has lost if they were not so in its snapshot.
    async fn breach_of_reference(
        &self,
        worker: &mut Worker,
        tables: &[u32],
        failure: &Failure,
        child: &str,
        key: &Key<'_>,
    ) -> Result<Breach, Failure> {
        let Some(constraint) = failure.field(b'n') else { return Ok(Breach::Own) };
        let detail = failure.field(b'D').unwrap_or_default();
        if detail.contains("is still referenced") {
            // The message names the parent's columns; the child's are in the catalogue.
            let Some(columns) = self.child_columns(child, constraint).await? else { return Ok(Breach::Own) };
            let key = Key { columns: &columns, values: key.values };
            return Ok(match self.sight(worker, tables, child, &key).await? {
                Sight::There => Breach::Own,
                Sight::Missing | Sight::Lost => Breach::Others,
            });
        }
        let Some((parent, columns)) = self.parent(child, constraint).await? else { return Ok(Breach::Own) };
        let key = Key { columns: &columns, values: key.values };
        Ok(match self.sight(worker, tables, &parent, &key).await? {
            Sight::Missing => Breach::Own,
            Sight::There | Sight::Lost => Breach::Others,
        })
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

    async fn sight(
        &self,
        worker: &mut Worker,
        tables: &[u32],
        table: &str,
        key: &Key<'_>,
    ) -> Result<Sight, Failure> {
        let call = Call::text(&key.exists(table));
        let replays = !worker.log.is_empty();
        let epilogue = if replays { UNDO } else { "" };
        let work = Work { replays, calls: &[call], epilogue, ..Work::default() };
        let mut attempt = 0;
        loop {
            // Others may have taken the rows that it wrote since it gave them back.
            let performed =
                self.shared().push_through(&self.seat, Push::Rows, tables, worker.perform(work)).await?;
            attempt += 1;
            match performed.failure {
                None => {
                    let rows = performed.outcomes.into_iter().next_back().map(|outcome| outcome.text_rows());
                    let seen = rows.and_then(|mut rows| rows.pop()?.pop()?);
                    return Ok(if seen.as_deref() == Some("t") { Sight::There } else { Sight::Missing });
                }
                Some(failure) if failure.is_collision() && attempt <= ATTEMPTS_MAX => pause(attempt).await,
                Some(_) if performed.is_replay_failure => return Ok(Sight::Lost),
                Some(_) => return Ok(Sight::Missing),
            }
        }
    }

    async fn is_committed(&self, table: &str, key: &Key<'_>) -> Result<bool, Failure> {
        Ok(self.shared().catalogue.ask(&key.exists(table)).await?.as_deref() == Some("t"))
    }
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
