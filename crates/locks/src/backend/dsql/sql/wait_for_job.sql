-- Until the index is built: without it release and extend read the whole table.
-- $1 job id
CALL sys.wait_for_job($1)
