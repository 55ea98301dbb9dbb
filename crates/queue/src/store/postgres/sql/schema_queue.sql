-- Leaves the name of the queue where schema_items.sql finds it: a comment cannot have a bound value.   $1 the comment
SELECT set_config('leasehold.comment', $1, true)
