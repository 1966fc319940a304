-- revision 1
/* Ends the children that wait, of a session whose calls are rejected or ended: their calls are rejected, no reply follows, and
   they count as cancelled. Those that run are asked to end by end_children. The caller holds the session's lock. p_by: who
   rejects them. */
create or replace function drop_children(p_session uuid, p_by text) returns void language plpgsql as $$
declare
  v_child uuid;
begin
  for v_child in
    select k.session_id from waiting_calls c
      join children k on k.parent_reply = c.reply_id and k.place = c.place
     where c.session_id = p_session and c.open and c.kind = 'child' order by 1
  loop
    perform drop_waiting(v_child, p_by);
  end loop;
  update waiting_calls c
     set open = false, decision = 'approve', decided_at = clock_timestamp(), begun = true, ok = false,
         content = 'The agent''s reply was cancelled.', duration_ms = 0
   where c.session_id = p_session and c.open and c.kind = 'child';
end $$;
