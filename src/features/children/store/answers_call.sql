-- revision 1
/* Returns whether a session answers a call that has no result yet: it takes no message of anybody else then. */
create or replace function answers_call(p_session uuid) returns boolean stable language sql as $$
  select exists (select from children c where c.session_id = p_session and not c.over)
$$;
