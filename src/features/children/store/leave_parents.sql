-- revision 2
/* Stores that these sessions are being deleted: what is pending above them has changed, and no session is made anew for a call
   that has no result yet, which is told the text so far. The caller holds their locks. */
create or replace function leave_parents(p_sessions uuid[]) returns void language plpgsql as $$
begin
  insert into gone_children (session_id, parent_session, parent_reply, content)
  select c.session_id, c.parent_session, c.parent_reply, left(text_of_replies(c.session_id, c.reply_id), 262144)
    from children c where c.session_id = any(p_sessions) and not c.over and c.parent_session <> all(p_sessions)
      on conflict do nothing;
  perform mark_above(g.id) from unnest(p_sessions) as g (id);
end $$;
