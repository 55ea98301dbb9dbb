-- Makes the room of dead rows usable again, and plans fit again; never in anybody's way.
VACUUM (ANALYZE, SKIP_LOCKED, TRUNCATE false) {items}
