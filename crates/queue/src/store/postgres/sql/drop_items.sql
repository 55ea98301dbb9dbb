-- The table goes before the row of its owner: the order in which every write takes them.
DROP TABLE IF EXISTS {items}
