-- revision 1
/* Returns those of these sessions that ask something, or that wait for one that does. */
create or replace function waiting_children(p_sessions uuid[]) returns setof uuid stable language sql as $$
  select s.id from sessions s
   where s.id = any(p_sessions) and s.status = 'waiting' and exists (select from pending_entries(s.id))
$$;
