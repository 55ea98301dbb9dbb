-- Before anything is read: of two withdrawals the later one sees what the earlier one took away. A statement that takes no
-- snapshot, so that this holds at every isolation level.
LOCK TABLE leasehold_access_marks IN SHARE ROW EXCLUSIVE MODE
