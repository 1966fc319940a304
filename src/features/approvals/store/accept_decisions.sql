-- revision 2
/* Counts the request of a message with decisions, and decides the calls that wait for them. m: see message_fields. s: see
   lock_session. Returns what judge_limits returns, or {outcome: not_waiting}, which counts nothing. */
create or replace function accept_decisions(m record, s record) returns jsonb language plpgsql as $$
declare
  v_verdict jsonb := '{}';
begin
  if s.last_id is distinct from m.wait_id then
    if s.last_id is not null then return '{"outcome": "not_waiting"}'; end if;
    -- A session may be made with a message whose calls have their results: the first reply goes on from it.
    perform 1 from waits w where w.session_id = m.session_id and w.reply_id = m.wait_id;
    if not found then return '{"outcome": "not_waiting"}'; end if;
  end if;
  if m.limits is not null then
    v_verdict := judge_limits(m.limits, m.agent_id, s.end_user, m.reply_id, 'take', null, null, null);
  end if;
  if not v_verdict ? 'over' and not decide_calls(m.session_id, m.wait_id, m.reply_id, m.decisions, m.decided_by) then
    raise sqlstate 'GR409';
  end if;
  return v_verdict;
exception when sqlstate 'GR409' then -- takes the counting back
  return '{"outcome": "not_waiting"}';
end $$;
