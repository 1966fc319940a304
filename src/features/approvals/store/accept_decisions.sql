-- revision 7
/* Decides calls that wait, for a message with decisions. Where all is decided by that, counts its request, and leaves the
   decisions to its reply. m: see message_fields. s: see lock_session. Returns what judge_limits returns, with decided (see
   take_decided), or {outcome}, which counts nothing: not_waiting, limited, or decided_in_part, when other calls are left: the
   decisions are stored, and no reply begins. */
create or replace function accept_decisions(m record, s record) returns jsonb language plpgsql as $$
declare
  v_verdict jsonb := '{}';
  v_others boolean; -- whether calls were decided before
begin
  if s.last_id is distinct from m.wait_id then
    if s.last_id is not null then return '{"outcome": "not_waiting"}'; end if;
    -- A session may be made with a message whose calls have their results: the first reply goes on from it.
    perform 1 from waits w where w.session_id = m.session_id and w.reply_id = m.wait_id;
    if not found then return '{"outcome": "not_waiting"}'; end if;
  end if;
  v_others := exists (select 1 from waiting_calls c where c.session_id = m.session_id and c.open and c.decision is not null);
  if m.parts is not null then perform add_output_parts(m.session_id, m.parts); end if;
  if decide_pending(m.session_id, m.wait_id, m.decisions, m.decided_by) > 0 then
    if m.in_part is not true then raise sqlstate 'GR409'; end if;
    if s.parent is not null then perform mark_above(m.session_id); end if;
    delete from partial_decisions p where p.session_id = m.session_id and p.at < clock_timestamp() - interval '24 hours';
    insert into partial_decisions (id, session_id, hash) values (m.reply_id, m.session_id, decode(m.decisions_hash, 'hex'));
    if m.key is not null then
      insert into idempotency_keys (session_id, key, body_hash, reply_id)
      values (m.session_id, m.key, decode(m.body_hash, 'hex'), m.reply_id)
      on conflict (session_id, key) do update
        set body_hash = excluded.body_hash, reply_id = excluded.reply_id, created_at = clock_timestamp();
    end if;
    return '{"outcome": "decided_in_part"}';
  end if;
  -- An older version would make only what this request approves.
  if v_others and m.in_part is null then raise sqlstate 'GR409'; end if;
  if m.limits is not null then
    v_verdict := judge_limits(m.limits, m.agent_id, s.end_user, m.reply_id, 'take', null, null, null);
    if v_verdict ? 'over' then raise sqlstate 'GR429'; end if;
  end if;
  v_verdict := v_verdict || jsonb_build_object('decided', coalesce(take_decided(m.session_id, m.reply_id), '[]'));
  if s.parent is not null then
    perform mark_above(m.session_id);
    perform follow_above(m.session_id, null, m.decided_by);
  end if;
  return v_verdict;
exception -- takes the decisions back
  when sqlstate 'GR409' then return '{"outcome": "not_waiting"}';
  when sqlstate 'GR422' then return '{"outcome": "too_many_remembered"}';
  when sqlstate 'GR429' then return v_verdict || '{"outcome": "limited"}';
end $$;
