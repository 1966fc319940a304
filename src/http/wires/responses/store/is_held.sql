-- revision 1
/* Returns whether the messages of a session may not be changed now: a reply or a compaction runs, calls wait, or messages are
   queued. The caller holds the session's lock. */
create or replace function is_held(p_session uuid, p_queued integer, p_compaction jsonb) returns boolean
language plpgsql as $$
begin
  if p_queued > 0 then return true; end if;
  perform 1 from messages m where m.session_id = p_session and m.status = 'streaming';
  if found then return true; end if;
  perform 1 from waits w where w.session_id = p_session;
  if found then return true; end if;
  if p_compaction is not null then return is_compacting(p_compaction); end if;
  return false;
end $$;
