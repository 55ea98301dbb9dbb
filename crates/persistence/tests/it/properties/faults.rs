//! Failures on demand: of the simulator, which has them, and of PostgreSQL, by triggers on every table.

use tokio_postgres::Client;

use crate::fixture::Fixture;

/// Armed by a row of `armed`; what is counted by a sequence survives the rollback. All in a schema of its own, so that what a
/// database holds is the same with it.
const MAKE: &str = "
    CREATE SCHEMA faults;
    CREATE TABLE faults.armed (place text NOT NULL, sqlstate text NOT NULL, times bigint NOT NULL);
    CREATE SEQUENCE faults.fired MINVALUE 0;
    CREATE FUNCTION faults.strike() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        failure faults.armed;
    BEGIN
        SELECT * INTO failure FROM faults.armed WHERE place = TG_ARGV[0];
        IF FOUND AND (SELECT last_value FROM faults.fired) < failure.times THEN
            PERFORM nextval('faults.fired');
            IF failure.sqlstate = '57P01' THEN
                PERFORM pg_terminate_backend(pg_backend_pid());
            ELSE
                RAISE EXCEPTION 'struck' USING ERRCODE = failure.sqlstate;
            END IF;
        END IF;
        RETURN NULL;
    END $$;
    DO $$
    DECLARE
        name text;
    BEGIN
        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
            EXECUTE format('CREATE TRIGGER strike_at_statement BEFORE INSERT OR UPDATE OR DELETE ON %I
                            FOR EACH STATEMENT EXECUTE FUNCTION faults.strike(''statement'')', name);
            EXECUTE format('CREATE CONSTRAINT TRIGGER strike_at_commit AFTER INSERT OR UPDATE OR DELETE ON %I
                            DEFERRABLE INITIALLY DEFERRED
                            FOR EACH ROW EXECUTE FUNCTION faults.strike(''commit'')', name);
        END LOOP;
    END $$";

pub(crate) enum Faults {
    OfTheSimulator,
    /// With the schema that they are in.
    ByTriggers(String),
}

impl Faults {
    pub(crate) async fn by_triggers(outside: &Client) -> Self {
        let row = outside.query_one("SELECT current_schema()::text", &[]).await.expect("a schema");
        let schema = format!("{}_faults", row.get::<_, &str>(0));
        outside
            .batch_execute(
                &MAKE
                    .replace("faults.", &format!("{schema}."))
                    .replace("SCHEMA faults", &format!("SCHEMA {schema}")),
            )
            .await
            .expect("triggers");
        Self::ByTriggers(schema)
    }

    pub(crate) async fn strike(&self, fixture: &Fixture, outside: &Client, failure: &str, times: u32) {
        let Self::ByTriggers(schema) = self else {
            fixture.arm(&format!(r#"{{"name": "failure", "action": "{failure}", "times": {times}}}"#));
            return;
        };
        let (place, sqlstate) = match failure {
            "conflict_at_statement" => ("statement", "40001"),
            "conflict_at_commit" => ("commit", "40001"),
            "deadlock_at_statement" => ("statement", "40P01"),
            "limit" => ("statement", "54000"),
            "unavailable" => ("statement", "XX000"),
            "close" => ("statement", "57P01"),
            "unsupported" => ("statement", "0A000"),
            "no_permission" => ("statement", "42501"),
            "no_table" => ("statement", "42P01"),
            "out_of_range" => ("statement", "22003"),
            unknown => panic!("PostgreSQL does not fail by {unknown}"),
        };
        let arm = format!(
            "DELETE FROM {schema}.armed;
             INSERT INTO {schema}.armed VALUES ('{place}', '{sqlstate}', {times});
             SELECT setval('{schema}.fired', 0)"
        );
        outside.batch_execute(&arm).await.expect("armed");
    }

    pub(crate) async fn spare(&self, fixture: &Fixture, outside: &Client) -> u64 {
        let Self::ByTriggers(schema) = self else {
            let fired = fixture.fired();
            fixture.disarm();
            return fired;
        };
        let disarm = format!("DELETE FROM {schema}.armed");
        outside.batch_execute(&disarm).await.expect("disarmed");
        let fired = format!("SELECT last_value FROM {schema}.fired");
        let fired = outside.query_one(&fired, &[]).await.expect("a count").get::<_, i64>(0);
        u64::try_from(fired).expect("a count")
    }
}
