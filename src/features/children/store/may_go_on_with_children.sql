-- revision 1
/* Returns whether a reply that made calls still goes on: it runs, or one that continues it does. */
create or replace function may_go_on_with_children(p_session uuid, p_reply uuid) returns boolean stable language plpgsql as $$
begin
  return exists (select from messages m where m.id = last_of_replies(p_session, p_reply) and m.session_id = p_session
                                         and m.status = 'streaming');
end $$;
