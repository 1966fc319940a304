-- revision 8
/* Opens the reply of a message that may begin: stores the user's message with its parts, the reply's row and the idempotency
   key. The insert decides: a session has one running reply (one_running_reply). What waits in the session is answered or
   rejected. m: see message_fields. s: see lock_session. p: see place_message. p_bytes: see judge_message. p_rate: of
   judge_limits. Returns the answer of admit_message. */
create or replace function open_reply(
  p_instance uuid, p_epoch bigint, m record, s record, p record, p_bytes bigint, p_rate jsonb
) returns jsonb language plpgsql as $$
declare
  v_next integer := s.next_position;
  v_position integer; -- of the reply
  v_line integer;
  v_lines_before integer[];
  v_is_straight boolean; -- whether it follows the newest message
  v_created_at timestamptz;
  v_title text; -- that the session gets now
  v_values jsonb; -- of the session
  v_end integer; -- position that the reply's history ends at
  v_history jsonb;
begin
  if m.decisions is null and s.last_finish_reason = 'tool_calls' then
    perform answer_calls(m.session_id, m.decided_by, m.answers), reject_calls(m.session_id, m.decided_by);
    if m.answers is not null and m.parts is not null then perform add_output_parts(m.session_id, m.parts); end if;
  end if;

  v_position := case when m.has_question then v_next + 1 else v_next end;
  v_is_straight := p.at = v_next - 1;
  if v_is_straight then
    v_line := p.line;
  else
    v_line := v_next;
    v_lines_before := lines_before(m.session_id, p.at, p.line);
  end if;
  v_created_at := clock_timestamp();
  if m.uses_values then v_values := jsonb_build_object('user', s.end_user, 'metadata', s.metadata); end if;

  if m.has_question then
    insert into messages (id, session_id, position, role, status, content, created_at, parent, line, lines_before)
    values (m.user_id, m.session_id, v_next, 'user', 'complete', m.text, v_created_at,
            case when not v_is_straight then p.at end, v_line, v_lines_before);
    if m.parts is not null then
      perform add_parts(m.session_id, m.user_id, jsonb_path_query_array(m.parts, '$[*] ? (!exists(@.call_id))'));
    end if;
  end if;
  insert into messages (id, session_id, position, role, status, created_at, session_num, model, first_seq,
                        include_usage, instance_id, epoch, parent, line, lines_before, asked_place, continues,
                        decisions_hash, facts)
  values (m.reply_id, m.session_id, v_position, 'assistant', 'streaming', v_created_at, s.num, m.model, s.next_seq,
          m.include_usage, p_instance, p_epoch, case when m.is_regenerate and not v_is_straight then p.at end,
          v_line, case when m.is_regenerate then v_lines_before end, m.place, m.wait_id, decode(m.decisions_hash, 'hex'),
          -- Kept until the reply ends: another instance that goes on with it uses the same values.
          case when v_values is null then m.facts else coalesce(m.facts, '{}') || jsonb_build_object('values', v_values) end);
  if m.key is not null then
    insert into idempotency_keys (session_id, key, body_hash, reply_id)
    values (m.session_id, m.key, decode(m.body_hash, 'hex'), m.reply_id)
    on conflict (session_id, key) do update
      set body_hash = excluded.body_hash, reply_id = excluded.reply_id, created_at = clock_timestamp();
  end if;
  if v_next = 0 and s.title is null then v_title := m.derived_title; end if;
  update sessions
     set updated_at = v_created_at, status = 'streaming', error_code = null, bytes = p_bytes + m.added,
         title = coalesce(title, v_title),
         title_is_draft = title_is_draft or (v_title is not null and coalesce(m.title_is_draft, false)),
         head = case when s.head is not null or not v_is_straight then v_position end
   where id = m.session_id;

  v_end := case when m.is_regenerate then p.before_at else p.at end;
  -- A row reports a message from the queue: its history would be stored once more.
  if v_end >= 0 and m.decisions is null and m.is_queued is not true and p_bytes <= (m.history ->> 'within')::bigint then
    select jsonb_agg(h) into v_history
      from path_history(m.session_id, v_end, (m.history ->> 'max_bytes')::bigint, (m.history ->> 'max_tool_text')::integer) h;
  end if;
  return jsonb_build_object(
    'outcome', 'admitted', 'reply_id', m.reply_id, 'session_num', s.num, 'first_seq', s.next_seq,
    'created_at', v_created_at, 'position', v_position, 'rest_state', case when m.decisions is null then s.rest_state else 'waiting' end,
    'untitled', coalesce(s.title, v_title) is null or s.title_is_draft
                or (v_title is not null and coalesce(m.title_is_draft, false)),
    'first_text', s.first_text, 'parent_id', p.id,
    'history_end', v_end, 'text', p.content,
    'values', v_values, 'history', v_history, 'rate', p_rate)
    || parent_in_answer(s.parent);
end $$;
