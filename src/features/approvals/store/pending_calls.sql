-- revision 2
/* Returns the calls of a waiting session that are open for a decision, in order: approvals first, then the caller's
   own. */
create or replace function pending_calls(p_session uuid) returns setof waiting_calls stable language sql as $$
  select c.* from waiting_calls c
   where c.session_id = p_session and c.open
     and (c.kind = 'approval'
          or not exists (select 1 from waiting_calls a where a.session_id = p_session and a.open and a.kind = 'approval'))
   order by c.place
$$;
