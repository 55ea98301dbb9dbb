-- Whether the function of acquire_function.sql is there, for this session's search_path and user.
SELECT coalesce(has_function_privilege(to_regprocedure('{acquire_function}(text,text,text,text,bigint)'), 'EXECUTE'), false)
