-- Whether the functions are all there, for this session's search_path and user.
SELECT coalesce(bool_and(has_function_privilege(to_regprocedure(signature), 'EXECUTE')), false)
       AND count(to_regprocedure(signature)) = 7
  FROM unnest(ARRAY ['{acquire_function}(text,text,text,text,bigint,boolean)', '{release_function}(text)',
                     '{acquire_many_function}(text[],text[],text[],text[],bigint[],boolean)',
                     '{release_many_function}(text[])', '{extend_function}(text,bigint)',
                     '{lookup_key_function}(text)', '{lookup_id_function}(text)']) AS needed (signature)
