-- revision 2
/* Returns whether a reply that made calls still goes on: it runs or waits, or one that continues it does. */
create or replace function may_go_on_with_children(p_session uuid, p_reply uuid) returns boolean stable language plpgsql as $$
declare
  v_last uuid := last_of_replies(p_session, p_reply);
begin
  return exists (select from messages m where m.id = v_last and m.session_id = p_session and m.status = 'streaming')
      or exists (select from waits w where w.session_id = p_session and w.reply_id = v_last);
end $$;
