-- Until an index is built: without it finding what is due reads the whole partition.   $1 job id
CALL sys.wait_for_job($1)
