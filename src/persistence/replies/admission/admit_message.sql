-- revision 41
/* Stores the user's message and opens its reply, or says why not. The insert decides: one running reply a session
   (one_running_reply). Idempotent by the reply's id, so that a call whose answer was lost is called again; with
   may_start false it only looks.
   Called in autocommit, like all functions here: an instance that is paused inside a transaction would hold its row
   locked against its own fencing.
   p_message: {agent_id, session_id, end_user (whose session it must be; null or absent: anybody's), user_id, reply_id, model,
   include_usage, key, body_hash (hex), is_retry, may_start, configuration (its version that the request was made from; null: any),
   make_session (a session that does not exist is made for end_user, with the message or not at all; absent: not_found), external_id
   (of a session that is made; absent: none), begins (what a session that is made holds before the message, {title, metadata,
   messages, bytes}; absent: nothing), secret_number (of the client secret that makes it; absent: none), parts ([{type, sha256 (hex),
   media_type, filename, size, detail, source_url, text_place, stored_as (hex)}], in their order; to look, sha256 or source_url is
   enough; absent: none), derived_title (for a session without one whose first message this is; null: none can be derived),
   title_is_draft (a model's is to replace it; absent: no), place (see find_place; absent: behind the head), facts (what is known of
   the reply, as messages.facts; absent: nothing), decisions (instead of a user's message; see decide_calls), wait_id (the reply that
   they are about), decisions_hash (hex), decided_by (also of what a message rejects), answers (beside a user's message, see
   answer_calls; absent: none), uses_values (true: those of the session are in the answer, and in facts until the reply ends),
   on_busy (interrupt, enqueue, steer; absent: it is refused while a reply runs), may_queue (it may wait in the queue here), input
   (what is stored of a message that waits, see enqueue_message), is_queued (it comes from the queue, see begin_next),
   max_session_bytes, max_user_bytes (what the session, and its user's sessions with the agent, may hold with the message; null: any
   number), limits (that it counts for, see judge_limits; absent: none), history ({within, max_bytes, max_tool_text}: of a session
   that holds no more than `within` bytes before it, what stands before the message is in the answer, see path_history; absent:
   never)}. p_text and parts are not looked at where place asks for another reply, or decisions come.
   Answers {outcome, reply_id, session_num, first_seq, created_at, position, rest_state, untitled, first_text (of an untitled
   session: its first user message; null: the new one), by_key (joined by its idempotency key), parent_id (the message that the
   new one comes behind; null: none), history_end (the position that the reply's history ends at; -1: it has none), text (what
   is answered anew; null: p_text), values ({user, metadata} of the session, where they are told), history (rows of
   path_history; absent or null: it is to be read), rate, over (of judge_limits; over: the outcome is limited)}.
   What few messages need is asked for in a statement of its own: plpgsql runs a condition with a query in it as a query,
   even where nothing has to be looked up. */
create or replace function admit_message(
  p_instance uuid, p_epoch bigint, p_message jsonb, p_text text
) returns jsonb language plpgsql as $$
declare
  m record;
  s record;
  last record;
  seen record;
  own record;
  answered record;
  v_fault text; -- why it has no place
  v_at integer; -- of the message that it comes behind (v_at, v_line, v_parent: as find_place names them)
  v_line integer;
  v_parent uuid;
  v_asked text; -- what is answered anew, and the position before it
  v_before_at integer;
  v_fenced boolean;
  v_rest_state text;
  v_is_regenerate boolean;
  v_is_straight boolean;
  v_has_question boolean;
  v_next integer; -- the position of what is stored next
  v_position integer;
  v_first_text text;
  v_created_at timestamptz;
  v_title text; -- that it gets now
  v_lines_before integer[];
  v_added bigint := 0; -- what the message brings, in bytes
  v_bytes bigint; -- what its session holds
  v_made jsonb; -- what make_session_for answers; null: the session was there
  v_values jsonb; -- of the session, as they are told; null: nobody asked
  v_repeated jsonb; -- the answer to a message that was sent before; null: it was not
  v_verdict jsonb := '{}'; -- of its limits
  v_rank integer; -- its place among what waits in the queue, as queued_messages.rank; 3: it does not wait
  v_first_rank integer; -- of what is next in the queue; null: nothing is
  v_waits boolean; -- a reply runs, or something goes before it
  v_queues boolean; -- it waits for that
  v_end integer; -- of its history
  v_history jsonb;
begin
  select * into m from jsonb_to_record(p_message) as x(
    agent_id uuid, session_id uuid, end_user text, user_id uuid, reply_id uuid, model text, include_usage boolean,
    key text, body_hash text, is_retry boolean, may_start boolean, configuration bigint, derived_title text,
    title_is_draft boolean, place jsonb, parts jsonb, facts jsonb, decisions jsonb, wait_id uuid, decisions_hash text,
    decided_by text, uses_values boolean, on_busy text, may_queue boolean, is_queued boolean, max_session_bytes bigint,
    max_user_bytes bigint, limits jsonb, history jsonb, answers jsonb);
  v_is_regenerate := coalesce(m.place ? 'regenerate', false);
  v_has_question := not v_is_regenerate and m.decisions is null;
  if v_has_question and m.is_queued is not true then -- what has waited in the queue is counted
    v_added := octet_length(p_text) + coalesce(parts_bytes(m.parts), 0);
  end if;

  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for key share;
  v_fenced := not found;

  -- `is not distinct from` is for no index. Planned while the table is small, `=` enters it by the agent's newest sessions,
  -- and reads them all when there are more.
  loop
    select x.num, x.next_seq, x.title, x.title_is_draft, x.head, x.end_user, x.metadata, x.status, x.queued, x.bytes,
           x.compaction
      into s from sessions x
     where x.id = m.session_id and x.agent_id is not distinct from m.agent_id and (m.end_user is null or x.end_user = m.end_user)
       for no key update;
    exit when found;
    if v_made is not null then return '{"outcome": "not_found"}'; end if; -- the id is somebody else's
    v_made := make_session_for(p_message, v_added, v_fenced);
    if v_made ? 'outcome' then return v_made; end if;
  end loop;

  select x.id, x.position, x.parent, x.line, x.status, x.finish_reason, x.requester_lost, x.created_at, x.asked_place,
         x.continues, x.decisions_hash
    into last from messages x
   where x.session_id = m.session_id and x.first_seq is not null and x.id <> m.reply_id order by x.position desc limit 1;
  v_rest_state := case when last.id is null then 'idle' else rest_state(last.finish_reason) end;
  if m.uses_values then v_values := jsonb_build_object('user', s.end_user, 'metadata', s.metadata); end if;

  if s.title is null or s.title_is_draft then
    select left(x.content, 10000) into v_first_text from messages x
     where x.session_id = m.session_id and x.role = 'user' order by x.position limit 1;
  end if;

  -- Look for a row of this reply's own id first: an earlier call stored it, and its response was lost. This precedes every
  -- refusal, the fence included, because a message that is stored must never be reported as not stored. An earlier call that
  -- is still under way has been waited for, by the lock on the session. One that had passed the fence has been waited for by
  -- the instance that raised the epoch. So a row that is missing here, under a raised epoch, will never appear.
  -- The row of a settled reply, or of another epoch, is only read.
  select x.position, x.parent, x.status, x.epoch, x.first_seq, x.created_at, x.facts ? 'queued' as was_queued,
         x.facts -> 'values' as told
    into own from messages x where x.id = m.reply_id;
  if found then
    select a.id, a.content, coalesce(a.parent, a.position - 1) as before_at into answered
      from messages a where a.session_id = m.session_id and a.position = coalesce(own.parent, own.position - 1);
    return jsonb_build_object(
      -- One from the queue begins where tend_queues tells of it.
      'outcome', case when own.status = 'streaming' and own.epoch = p_epoch and not v_fenced and own.was_queued is not true
                      then 'admitted' else 'joined' end,
      'reply_id', m.reply_id, 'session_num', s.num, 'first_seq', own.first_seq, 'created_at', own.created_at,
      'position', own.position, 'rest_state', v_rest_state, 'untitled', s.title is null or s.title_is_draft,
      'first_text', v_first_text,
      'parent_id', case when v_is_regenerate then answered.id else (
        select b.id from messages b where b.session_id = m.session_id and b.position = answered.before_at) end,
      'history_end', answered.before_at, 'text', case when v_is_regenerate then answered.content end,
      'values', coalesce(own.told, v_values));
  end if;
  if s.queued > 0 and m.is_queued is not true then
    select jsonb_build_object('outcome', 'queued', 'reply_id', q.reply_id, 'position', queue_position(q.reply_id)) as answer
      into seen from queued_messages q where q.reply_id = m.reply_id and q.admission is null;
    if found then return seen.answer; end if;
  end if;
  if v_fenced then return '{"outcome": "fenced"}'; end if;

  if m.key is not null then
    select k.body_hash, k.reply_id into seen from idempotency_keys k
     where k.session_id = m.session_id and k.key = m.key and k.created_at > clock_timestamp() - interval '24 hours';
    if found then
      if seen.body_hash <> decode(m.body_hash, 'hex') then return '{"outcome": "key_reused"}'; end if;
      return joined_queued(s.queued, seen.reply_id)
             || jsonb_build_object('reply_id', seen.reply_id, 'by_key', true);
    end if;
  end if;

  if m.is_retry then
    v_repeated := repeated_message(p_message, p_text, s.queued, last.id);
    if v_repeated is not null then return v_repeated; end if;
  end if;

  -- Before it may be busy: a message that has no place cancels nothing.
  if m.decisions is not null or (m.place is null and last.id is not null and coalesce(s.head, last.position) = last.position) then
    v_at := last.position;
    v_line := last.line;
    v_parent := last.id;
  else
    select p.fault, p.at, p.line, p.id, p.content, p.before_at
      into v_fault, v_at, v_line, v_parent, v_asked, v_before_at from find_place(m.session_id, s.head, m.place) p;
    -- Behind one that waits, it waits too: its place is looked for when it begins.
    if v_fault = 'unknown_parent' and m.on_busy = 'enqueue' and s.queued > 0 then
      perform 1 from queued_messages q
       where q.session_id = m.session_id and q.reply_id = (m.place ->> 'parent')::uuid and q.admission is null;
      if found then v_fault := null; end if;
    end if;
    if v_fault is not null then return jsonb_build_object('outcome', v_fault); end if;
  end if;

  v_waits := last.status = 'streaming';
  if s.compaction is not null then v_waits := v_waits is true or is_compacting(s.compaction); end if;
  if m.is_queued is not true and m.decisions is null and (s.queued > 0 or m.on_busy is not null) then
    v_rank := case m.on_busy when 'interrupt' then 0 when 'steer' then 1 when 'enqueue' then 2 else 3 end;
    if s.queued > 0 then
      select min(q.rank) into v_first_rank from queued_messages q where q.session_id = m.session_id and q.admission is null;
    end if;
    -- A message goes before the queue that waits with the session's calls, unless it is to wait in it.
    v_waits := coalesce(v_waits, false) or case when s.status = 'waiting' then v_rank = 2 or v_first_rank <= least(v_rank, 1)
                                 else coalesce(v_first_rank <= v_rank, false) end;
    v_queues := v_waits and m.may_queue and (v_rank in (1, 2) or (v_rank = 0 and s.queued > 0));
  end if;
  if m.limits is not null
     and (v_waits is not true and not m.may_start or v_waits and v_rank <= case when m.may_start then 0 else 2 end) then
    -- Looked at only: pictures are fetched first, or what runs is ended first, which must not be for nothing. What is only
    -- busy is told so, whatever its limits, and what is to wait takes no place until it begins.
    v_verdict := judge_limits(
      case when v_waits and v_rank > 0 then m.limits #- '{key,concurrentReplies}' #- '{user,concurrentReplies}' else m.limits end,
      m.agent_id, s.end_user, m.reply_id, 'look', case when last.status = 'streaming' then last.id end, null, null);
    if v_verdict ? 'over' then return v_verdict || '{"outcome": "limited"}'; end if;
  end if;
  if v_waits and v_queues is not true then return '{"outcome": "busy"}'; end if;
  if not m.may_start and v_queues is not true then return '{"outcome": "refused"}'; end if;
  -- The agent that the request was made from may be another one now.
  if m.configuration <> (select c.version from configuration c) then return '{"outcome": "stale"}'; end if;

  -- Decisions bring an end to what was begun.
  v_bytes := s.bytes;
  if m.decisions is null then
    if v_bytes is null then v_bytes := session_bytes(m.session_id); end if;
    if v_bytes + v_added > m.max_session_bytes then return '{"outcome": "session_full"}'; end if;
    if m.max_user_bytes is not null then
      if user_bytes(m.agent_id, s.end_user) + v_added > m.max_user_bytes then return '{"outcome": "user_full"}'; end if;
    end if;
  end if;
  if v_queues then
    -- Before its limits: what is refused counts nothing. What interrupts waits for a moment only, and is none of the twenty.
    if v_rank > 0 and 20 <= (
      select count(*) from queued_messages q where q.session_id = m.session_id and q.admission is null and q.rank > 0)
    then
      return '{"outcome": "queue_full"}';
    end if;
    if m.limits is not null then
      v_verdict := judge_limits(m.limits, m.agent_id, s.end_user, m.reply_id, 'count',
                                case when last.status = 'streaming' then last.id end, null, null);
      if v_verdict ? 'over' then return v_verdict || '{"outcome": "limited"}'; end if;
    end if;
    return v_verdict || enqueue_message(p_message, p_text, v_rank, v_bytes + v_added);
  end if;

  if m.decisions is not null then
    if last.id is distinct from m.wait_id then return '{"outcome": "not_waiting"}'; end if;
    begin -- What is refused counts nothing: the exception takes the counting back.
      if m.limits is not null then
        v_verdict := judge_limits(m.limits, m.agent_id, s.end_user, m.reply_id, 'take', null, null, null);
      end if;
      if not v_verdict ? 'over' and not decide_calls(m.session_id, m.wait_id, m.reply_id, m.decisions, m.decided_by) then
        raise sqlstate 'GR409';
      end if;
    exception when sqlstate 'GR409' then return '{"outcome": "not_waiting"}';
    end;
  elsif m.limits is not null then
    v_verdict := judge_limits(m.limits, m.agent_id, s.end_user, m.reply_id,
                              case when m.is_queued then 'hold' else 'take' end, null, null, null);
  end if;
  if v_verdict ? 'over' then
    if (v_made -> 'is_made')::boolean then delete from sessions x where x.id = m.session_id; end if;
    return v_verdict || '{"outcome": "limited"}';
  end if;
  if m.decisions is null and last.finish_reason = 'tool_calls' then
    perform answer_calls(m.session_id, m.decided_by, m.answers), reject_calls(m.session_id, m.decided_by);
  end if;

  -- Replies are last, but for the messages that a session was made with.
  v_next := last.position + 1;
  if v_next is null then
    v_next := coalesce((select max(x.position) from messages x where x.session_id = m.session_id), -1) + 1;
  end if;
  v_is_straight := v_at = v_next - 1;
  v_position := case when v_has_question then v_next + 1 else v_next end;
  v_created_at := clock_timestamp();
  if not v_is_straight then
    v_lines_before := lines_before(m.session_id, v_at, v_line);
    v_line := v_next;
  end if;
  if v_has_question then
    insert into messages (id, session_id, position, role, status, content, created_at, parent, line, lines_before)
    values (m.user_id, m.session_id, v_next, 'user', 'complete', p_text, v_created_at,
            case when not v_is_straight then v_at end, v_line, v_lines_before);
    if m.parts is not null then perform add_parts(m.session_id, m.user_id, m.parts); end if;
  end if;
  insert into messages (id, session_id, position, role, status, created_at, session_num, model, first_seq,
                        include_usage, instance_id, epoch, parent, line, lines_before, asked_place, continues,
                        decisions_hash, facts)
  values (m.reply_id, m.session_id, v_position, 'assistant', 'streaming', v_created_at, s.num, m.model, s.next_seq,
          m.include_usage, p_instance, p_epoch, case when v_is_regenerate and not v_is_straight then v_at end,
          v_line, case when v_is_regenerate then v_lines_before end, m.place, m.wait_id, decode(m.decisions_hash, 'hex'),
          -- Kept until it ends: another instance that goes on with it tells the same.
          case when v_values is null then m.facts else coalesce(m.facts, '{}') || jsonb_build_object('values', v_values) end);
  if m.key is not null then
    insert into idempotency_keys (session_id, key, body_hash, reply_id)
    values (m.session_id, m.key, decode(m.body_hash, 'hex'), m.reply_id)
    on conflict (session_id, key) do update
      set body_hash = excluded.body_hash, reply_id = excluded.reply_id, created_at = clock_timestamp();
  end if;
  if v_next = 0 and s.title is null then v_title := m.derived_title; end if;
  update sessions
     set updated_at = v_created_at, status = 'streaming', error_code = null, bytes = v_bytes + v_added,
         title = coalesce(title, v_title),
         title_is_draft = title_is_draft or (v_title is not null and coalesce(m.title_is_draft, false)),
         head = case when s.head is not null or not v_is_straight then v_position end
   where id = m.session_id;
  v_end := case when v_is_regenerate then v_before_at else v_at end;
  -- What comes from the queue is told by a row: its history would be stored once more.
  if v_end >= 0 and m.decisions is null and m.is_queued is not true and v_bytes <= (m.history ->> 'within')::bigint then
    select jsonb_agg(h) into v_history
      from path_history(m.session_id, v_end, (m.history ->> 'max_bytes')::bigint, (m.history ->> 'max_tool_text')::integer) h;
  end if;
  return jsonb_build_object(
    'outcome', 'admitted', 'reply_id', m.reply_id, 'session_num', s.num, 'first_seq', s.next_seq,
    'created_at', v_created_at, 'position', v_position, 'rest_state', v_rest_state,
    'untitled', coalesce(s.title, v_title) is null or s.title_is_draft
                or (v_title is not null and coalesce(m.title_is_draft, false)),
    'first_text', v_first_text, 'parent_id', v_parent,
    'history_end', v_end, 'text', v_asked,
    'values', v_values, 'history', v_history, 'rate', v_verdict -> 'rate');
end $$;
