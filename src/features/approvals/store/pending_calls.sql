-- revision 4
/* Returns the calls of a waiting session that are undecided and may be decided now, in order; pending_entries has those of children too. Those of one rank (kind_rank) are
   pending together, until the reply that follows has begun. */
create or replace function pending_calls(p_session uuid) returns setof waiting_calls stable language sql as $$
  select c.* from waiting_calls c
   where c.session_id = p_session and c.open and c.decision is null and c.kind <> 'child'
     and kind_rank(c.kind) = (select min(kind_rank(a.kind)) from waiting_calls a where a.session_id = p_session and a.open)
   order by c.place
$$;
