-- revision 10
/* Updates the pending calls when a reply ends: stores the results of calls that it made, and adds calls that it
   requested. Unless the reply ends to wait, calls that are still open are never offered for a decision. Called by
   fold_reply. p_waiting: {calls: [{place, call_id, name, arguments, kind, reply_id, asked}], carried, asked}, or null. reply_id: absent
   for those of this reply. asked: {server, questions, state, of}, absent where no server asks. */
create or replace function keep_waiting_calls(p_session uuid, p_reply uuid, p_waiting jsonb, p_events jsonb)
returns void language plpgsql as $$
begin
  delete from reply_turns t where t.reply_id = p_reply;
  if p_events is not null then
    -- A call's id is its own among all calls since the user's message: see withOwnIds.
    update waiting_calls c
       set begun = true, ok = (e.result ->> 'ok')::boolean, content = e.result ->> 'content',
           duration_ms = (e.result ->> 'durationMs')::numeric::integer
      from (select b.value -> 'event' ->> 'id' as id, r.value -> 'event' as result
              from jsonb_array_elements(p_events) as b (value)
              left join jsonb_array_elements(p_events) as r (value)
                on r.value -> 'event' ->> 'type' = 'tool_result'
               and r.value -> 'event' ->> 'id' = b.value -> 'event' ->> 'id'
             where b.value -> 'event' ->> 'type' = 'tool_begun') e
     where c.session_id = p_session and c.decided_in = p_reply
       and c.decision in ('approve', 'answer', 'decline', 'cancel', 'signed_in') and c.call_id = e.id;
  end if;
  if p_waiting is null then
    update waiting_calls c set open = false where c.session_id = p_session and c.open;
    return;
  end if;
  insert into waiting_calls (reply_id, place, session_id, call_id, name, arguments, kind, asked_state, asked_of)
  select coalesce(w.reply_id, p_reply), w.place, p_session, w.call_id, w.name, w.arguments, w.kind, w.asked ->> 'state',
         w.asked ->> 'of'
    from jsonb_to_recordset(p_waiting -> 'calls') as w(place integer, call_id text, name text, arguments text, kind text,
                                                       reply_id uuid, asked jsonb)
  on conflict (reply_id, place) do update -- it was made, and its server asks (again)
    set kind = excluded.kind, open = true, decision = null, decided_at = null, decided_by = null, decided_in = null,
        begun = false, ok = null, content = null, duration_ms = null, asked_at = clock_timestamp(),
        asked_state = excluded.asked_state, asked_of = excluded.asked_of;
  if jsonb_path_exists(p_waiting, '$.calls[*].asked') then perform keep_questions(p_reply, p_waiting -> 'calls'); end if;
  insert into waits (session_id, reply_id, carried, asked, expires_at)
  values (p_session, p_reply, p_waiting ->> 'carried', p_waiting -> 'asked',
          case when p_waiting -> 'calls' @> '[{"kind": "approval"}]' then
            clock_timestamp() + make_interval(secs => (p_waiting #>> '{asked,expiresAfterS}')::integer) end)
  on conflict (session_id) do update
    set reply_id = excluded.reply_id, carried = excluded.carried, asked = excluded.asked, expires_at = excluded.expires_at;
end $$;
