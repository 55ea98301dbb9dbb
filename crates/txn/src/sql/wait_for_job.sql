-- Until an index is built: until then what needs it reads the whole table.   $1 job id
CALL sys.wait_for_job($1)
