-- revision 1
/* Stores that these sessions, which have parents, are being deleted: what is pending above them has changed, and no session is
   made anew for a call that has no result yet. The caller holds their locks. */
create or replace function leave_parents(p_sessions uuid[]) returns void language plpgsql as $$
begin
  insert into gone_children (session_id, parent_session, parent_reply)
  select c.session_id, c.parent_session, c.parent_reply from children c where c.session_id = any(p_sessions) and not c.over
      on conflict do nothing;
  perform mark_above(g.id) from unnest(p_sessions) as g (id);
end $$;
