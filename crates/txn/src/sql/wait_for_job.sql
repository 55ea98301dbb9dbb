-- Whether the job succeeded. False also when the wait timed out. Refused in a transaction.   $1 job id
CALL sys.wait_for_job($1)
