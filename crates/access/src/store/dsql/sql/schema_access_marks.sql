-- What is done once in the life of the tables.
CREATE TABLE IF NOT EXISTS leasehold_access_marks (
    name text CONSTRAINT leasehold_access_marks_pkey PRIMARY KEY,
    made_at timestamptz NOT NULL
)
