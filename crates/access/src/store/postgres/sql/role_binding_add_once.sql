-- Add the binding unless the mark is set; set it. If the binding is refused the mark is not set either.
-- $1 to $5 the binding   $6 mark
WITH marked AS (
    INSERT INTO leasehold_access_marks (name, made_at) VALUES ($6, $5)
    ON CONFLICT (name) DO NOTHING
    RETURNING name
), added AS (
    INSERT INTO leasehold_role_bindings (id, namespace, user_id, role_id, created_at)
    SELECT $1, $2, $3, $4, $5 FROM marked
    ON CONFLICT (user_id, namespace, role_id) DO NOTHING
    RETURNING id
)
SELECT EXISTS (SELECT FROM marked) AS marked, EXISTS (SELECT FROM added) AS added
