-- revision 3
/* Has the reply begin that follows decisions which no request waits for, if nothing is left to decide: it begins as a queued
   message's does, before all that is queued, on this instance or (p_instance null, or it begins none) wherever queues are tended.
   Those of the sessions above follow where nothing is left there either. The caller holds the session's lock, and has stored
   decisions (decide_pending). p_by: who decided last.
   Returns the id of the reply that has begun here. Null: none has. */
create or replace function follow_decided(p_instance uuid, p_epoch bigint, p_session uuid, p_by text) returns uuid
language plpgsql as $$
declare
  v_has_parent boolean := (select s.parent is not null from sessions s where s.id = p_session);
begin
  if v_has_parent then perform mark_above(p_session); end if;
  if not queue_decided(p_session, p_by) then return null; end if;
  if v_has_parent then perform follow_above(p_session, null, p_by); end if;
  return begin_or_wait(p_instance, p_epoch, p_session);
end $$;
