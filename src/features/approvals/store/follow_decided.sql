-- revision 1
/* Has the reply begin that follows decisions which no request waits for, if nothing is left to decide: it begins as a queued
   message's does, before all that is queued, on this instance or (p_instance null, or it begins none) wherever queues are tended.
   The caller holds the session's lock, and has stored decisions (decide_pending). p_by: who decided last.
   Returns the id of the reply that has begun here. Null: none has. */
create or replace function follow_decided(p_instance uuid, p_epoch bigint, p_session uuid, p_by text) returns uuid
language plpgsql as $$
declare
  w record;
begin
  if exists (select 1 from pending_calls(p_session)) then return null; end if;
  select x.reply_id, x.asked, m.include_usage, m.facts into w
    from waits x join messages m on m.id = x.reply_id where x.session_id = p_session;
  if not found or exists (select 1 from queued_messages q where q.session_id = p_session and q.admission is null and q.rank < 0) then
    return null;
  end if;
  -- Older versions would begin it as a message.
  update compatibility set oldest = 85 where oldest < 85;
  insert into queued_messages (id, session_id, rank, reply_id, content, message, input)
  values (gen_random_uuid(), p_session, -1, gen_random_uuid(), '',
          jsonb_build_object(
            'version', 1, 'wait_id', w.reply_id, 'decisions', '[]'::jsonb, 'include_usage', w.include_usage,
            'asked', w.asked, 'decided_by', p_by,
            'waited_ms', (select (extract(epoch from clock_timestamp() - min(c.asked_at)) * 1000)::float8
                            from waiting_calls c where c.session_id = p_session and c.open),
            'facts', jsonb_strip_nulls(jsonb_build_object('counts', w.facts -> 'counts', 'overrides', w.facts -> 'overrides'))),
          '');
  update sessions s set queued = s.queued + 1 where s.id = p_session;
  return begin_or_wait(p_instance, p_epoch, p_session);
end $$;
