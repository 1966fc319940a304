-- revision 1
/* What a reply that ends means for calls that wait: results of those that it made are noted, those that it asked for are
   added. Unless it ends to wait, nobody will be asked about what is still open. To be called by fold_reply.
   p_waiting: {calls: [{place, call_id, name, arguments, kind}], carried}, or null. */
create or replace function keep_waiting_calls(p_session uuid, p_reply uuid, p_waiting jsonb, p_events jsonb)
returns void language plpgsql as $$
begin
  if p_events is not null then
    -- What was decided comes first in the reply: later calls of it may have the same id.
    update waiting_calls c
       set begun = true, ok = (e.result ->> 'ok')::boolean, content = e.result ->> 'content',
           duration_ms = (e.result ->> 'durationMs')::numeric::integer
      from (select b.event ->> 'id' as id,
                   (select r.value -> 'event' from jsonb_array_elements(p_events) with ordinality as r (value, n)
                     where r.value -> 'event' ->> 'type' = 'tool_result'
                       and r.value -> 'event' ->> 'id' = b.event ->> 'id' order by r.n limit 1) as result
              from (select x.value -> 'event' as event from jsonb_array_elements(p_events) as x (value)
                     where x.value -> 'event' ->> 'type' = 'tool_begun') b) e
     where c.session_id = p_session and c.decided_in = p_reply and c.decision = 'approve' and c.call_id = e.id;
  end if;
  if p_waiting is null then
    update waiting_calls c set open = false where c.session_id = p_session and c.open;
    return;
  end if;
  insert into waiting_calls (reply_id, place, session_id, call_id, name, arguments, kind)
  select p_reply, w.place, p_session, w.call_id, w.name, w.arguments, w.kind
    from jsonb_to_recordset(p_waiting -> 'calls') as w(place integer, call_id text, name text, arguments text, kind text);
  insert into waits (session_id, reply_id, carried) values (p_session, p_reply, p_waiting ->> 'carried')
  on conflict (session_id) do update set reply_id = excluded.reply_id, carried = excluded.carried;
end $$;
