-- revision 1
/* Returns the refusal of a message to a session whose parent waits for it (see answers_call). Null: it may take one. Older
   versions know the refusal by its outcome, newer ones by by_parent. */
create or replace function parent_refuses(p_session uuid) returns jsonb stable language sql as $$
  select case when answers_call(p_session) then '{"outcome": "answers_call", "by_parent": true}'::jsonb end
$$;
