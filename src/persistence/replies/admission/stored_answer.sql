-- revision 3
/* Returns the answer to a message that an earlier call has stored under the same reply's id, and whose answer was lost. Null:
   nothing is stored. m: see message_fields. s: see lock_session.
   It precedes every refusal, the fence included, because a message that is stored must never be reported as not stored. The
   lock on the session has waited for an earlier call that was still under way. The instance that raised the epoch has waited
   for a call that had passed the fence. So a row that is missing here, under a raised epoch, will never appear.
   The row of a settled reply, or of another epoch, is only read. */
create or replace function stored_answer(m record, s record, p_epoch bigint, p_fenced boolean) returns jsonb language plpgsql as $$
declare
  own record;
  answered record;
  v_answer jsonb;
begin
  select x.position, x.parent, x.status, x.epoch, x.first_seq, x.created_at, x.facts ? 'queued' as was_queued,
         x.facts -> 'values' as told
    into own from messages x where x.id = m.reply_id;
  if found then
    select a.id, a.content, coalesce(a.parent, a.position - 1) as before_at into answered
      from messages a where a.session_id = m.session_id and a.position = coalesce(own.parent, own.position - 1);
    v_answer := jsonb_build_object(
      -- A reply from the queue begins where tend_queues reports it.
      'outcome', case when own.status = 'streaming' and own.epoch = p_epoch and not p_fenced and own.was_queued is not true
                      then 'admitted' else 'joined' end,
      'reply_id', m.reply_id, 'session_num', s.num, 'first_seq', own.first_seq, 'created_at', own.created_at,
      'position', own.position, 'rest_state', case when m.decisions is null then s.rest_state else 'waiting' end, 'untitled', s.title is null or s.title_is_draft,
      'first_text', s.first_text,
      'parent_id', case when m.is_regenerate then answered.id else (
        select b.id from messages b where b.session_id = m.session_id and b.position = answered.before_at) end,
      'history_end', answered.before_at, 'text', case when m.is_regenerate then answered.content end,
      'values', coalesce(own.told, case when m.uses_values then jsonb_build_object('user', s.end_user, 'metadata', s.metadata) end));
    if m.decisions is not null then v_answer := v_answer || jsonb_build_object('decided', decisions_for(m.reply_id)); end if;
    return v_answer;
  end if;
  if m.decisions is not null and repeats_partial_decision(m.session_id, m.reply_id, null) then
    return '{"outcome": "decided_in_part"}';
  end if;
  if s.queued > 0 then
    select jsonb_build_object('outcome', 'queued', 'reply_id', q.reply_id, 'position', queue_position(q.reply_id))
      into v_answer from queued_messages q where q.reply_id = m.reply_id and q.admission is null;
  end if;
  return v_answer;
end $$;
