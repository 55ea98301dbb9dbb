-- Says which queue the table belongs to, unless it says something already.
DO $$ BEGIN
    IF to_regclass('{items}') IS NOT NULL AND obj_description(to_regclass('{items}')::oid, 'pg_class') IS NULL THEN
        EXECUTE format('COMMENT ON TABLE {items} IS %L', current_setting('leasehold.comment'));
    END IF;
END $$
