-- The highest epoch that was given to an owner, and where the sequence stands that gives them.
SELECT (SELECT max(epoch) FROM leasehold_partitions) AS epoch_max,
       (SELECT last_value FROM leasehold_partition_epochs) AS last_given
