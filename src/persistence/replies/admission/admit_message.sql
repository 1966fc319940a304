-- revision 46
/* Stores the user's message and opens its reply, or says why not. Idempotent by the reply's id, so that a call whose answer
   was lost is repeated. With may_start false it only looks.
   Called in autocommit, like all functions here: an instance that is paused inside a transaction would hold its row
   locked against its own fencing.
   p_message, with a table of its fields: message_fields. p_text is the user's message. p_text and parts are ignored where the
   place is another reply to an earlier message, or decisions come.
   Each step is a function of its own, and decides one thing. Records pass between them, since their fields may grow.
   Returns {outcome, reply_id, session_num, first_seq, created_at, position, rest_state, untitled, first_text (of an untitled
   session: its first user message; null: the new one), by_key (joined by its idempotency key), parent_id (the message that the
   new one follows; null: none), history_end (the position that the reply's history ends at; -1: it has none), text (the earlier
   message that is answered again; null: p_text), values ({user, metadata} of the session, where uses_values asks for them),
   history (rows of path_history; absent or null: it must be read), rate, over (of judge_limits; over: the outcome is limited),
   decided (what the reply carries out, see take_decided; absent: nothing), repeated (decided_in_part: by an earlier request)}.
   What few messages need is a statement of its own: plpgsql runs a condition that contains a query as a query, even where
   nothing has to be read. */
create or replace function admit_message(
  p_instance uuid, p_epoch bigint, p_message jsonb, p_text text
) returns jsonb language plpgsql as $$
declare
  m record := message_fields(p_message, p_text);
  s record; -- of lock_session
  place record; -- of place_message
  judged record; -- of judge_message
  v_fenced boolean;
  v_made jsonb; -- of make_session_for; null: the session existed
  v_answer jsonb;
  v_verdict jsonb := '{}'; -- of judge_limits
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for key share;
  v_fenced := not found;
  loop
    s := lock_session(m.session_id, m.agent_id, m.end_user, m.reply_id);
    exit when s.num is not null;
    if v_made is not null then return '{"outcome": "not_found"}'; end if; -- another user has a session of this id
    v_made := make_session_for(p_message, m.added + coalesce(texts_bytes(m.session_id, m.texts), 0), v_fenced);
    if v_made ? 'outcome' then return v_made; end if;
  end loop;

  v_answer := stored_answer(m, s, p_epoch, v_fenced);
  if v_answer is not null then return v_answer; end if;
  if v_fenced then return '{"outcome": "fenced"}'; end if;
  if m.key is not null or m.is_retry then
    v_answer := repeated_answer(p_message, m, s);
    if v_answer is not null then return v_answer; end if;
  end if;

  m.added := m.added + coalesce(texts_bytes(m.session_id, m.texts), 0);
  -- Before the session may be busy: a message that has no place cancels nothing.
  place := place_message(m, s);
  if place.fault is not null then return jsonb_build_object('outcome', place.fault); end if;
  judged := judge_message(m, s);
  if judged.refusal is not null then return judged.refusal; end if;

  -- Limits come last: what is refused counts nothing.
  if m.decisions is not null then
    v_verdict := accept_decisions(m, s);
    if v_verdict ? 'outcome' then
      if (v_made -> 'is_made')::boolean then delete from sessions x where x.id = m.session_id; end if;
      return v_verdict;
    end if;
  elsif m.limits is not null then
    v_verdict := judge_limits(
      m.limits, m.agent_id, s.end_user, m.reply_id, case when judged.queue_rank is null then 'take' else 'count' end,
      case when judged.queue_rank is not null and s.last_status = 'streaming' then s.last_id end, null, null);
  end if;
  if v_verdict ? 'over' then
    if (v_made -> 'is_made')::boolean then delete from sessions x where x.id = m.session_id; end if;
    return v_verdict || '{"outcome": "limited"}';
  end if;
  if m.texts is not null then perform keep_texts(m.session_id, m.texts); end if;
  if judged.queue_rank is not null then
    return v_verdict || enqueue_message(p_message, p_text, judged.queue_rank, judged.bytes + m.added);
  end if;
  v_answer := open_reply(p_instance, p_epoch, m, s, place, judged.bytes, v_verdict -> 'rate');
  if v_verdict ? 'decided' then v_answer := v_answer || jsonb_build_object('decided', v_verdict -> 'decided'); end if;
  return v_answer;
end $$;
