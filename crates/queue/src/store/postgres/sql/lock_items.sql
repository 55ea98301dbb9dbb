-- Whoever takes the partition over touches the table first: from here on nobody does.
LOCK TABLE {items} IN ACCESS EXCLUSIVE MODE
