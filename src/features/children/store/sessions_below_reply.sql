-- revision 1
/* Returns the sessions that answer the calls of a reply. */
create or replace function sessions_below_reply(p_reply uuid) returns uuid[] stable language sql as $$
  select array(select c.session_id from children c where c.parent_reply = p_reply)
$$;
