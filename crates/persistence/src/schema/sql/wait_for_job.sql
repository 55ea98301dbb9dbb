-- Until an index is built.   $1 job id
CALL sys.wait_for_job($1)
