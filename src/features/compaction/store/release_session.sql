-- revision 1
/* Ends the hold of a compaction, and begins the next queued message, which has waited for it. Idempotent. Answers the id of
   the reply that has begun; null when none has. */
create or replace function release_session(p_instance uuid, p_epoch bigint, p_session uuid, p_hold text) returns uuid
language plpgsql as $$
declare
  v_queued integer;
begin
  update sessions s set compaction = null where s.id = p_session and s.compaction ->> 'id' = p_hold
  returning s.queued into v_queued;
  if v_queued > 0 then return begin_or_wait(p_instance, p_epoch, p_session); end if;
  return null;
end $$;
