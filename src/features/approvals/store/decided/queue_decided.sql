-- revision 1
/* Queues the reply that follows decisions which no request waits for, if nothing is left to decide in the session and below it.
   The caller holds the session's lock, and has stored decisions (decide_pending). p_by: who decided last. Returns whether it
   did: one is queued once. */
create or replace function queue_decided(p_session uuid, p_by text) returns boolean language plpgsql as $$
declare
  w record;
begin
  if exists (select 1 from pending_entries(p_session)) then return false; end if;
  select x.reply_id, x.asked, m.include_usage, m.facts into w
    from waits x join messages m on m.id = x.reply_id where x.session_id = p_session;
  if not found or exists (select 1 from queued_messages q where q.session_id = p_session and q.admission is null and q.rank < 0) then
    return false;
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
  return true;
end $$;
