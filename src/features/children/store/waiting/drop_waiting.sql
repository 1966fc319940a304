-- revision 2
/* Rejects what a waiting session asks, and what those ask that it waits for: its reply counts as cancelled, and none follows.
   Returns whether it waited. p_by: who rejects it. */
create or replace function drop_waiting(p_session uuid, p_by text) returns boolean language plpgsql as $$
declare
  v_reply uuid;
begin
  perform 1 from sessions s where s.id = p_session and s.status = 'waiting' for no key update;
  if not found then return false; end if;
  select w.reply_id into v_reply from waits w where w.session_id = p_session;
  perform reject_calls(p_session, p_by);
  delete from queued_messages q where q.session_id = p_session and q.rank < 0 and q.admission is null;
  update messages m set finish_reason = 'cancelled' where m.id = v_reply and m.session_id = p_session;
  update sessions s set status = 'cancelled', updated_at = clock_timestamp(),
                        queued = (select count(*) from queued_messages q where q.session_id = s.id and q.admission is null)
   where s.id = p_session;
  perform mark_above(p_session);
  return true;
end $$;
