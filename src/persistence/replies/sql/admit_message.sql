-- revision 8
/* Stores the user's message and opens its reply, or says why not. The insert decides: one running reply a session
   (one_running_reply). Idempotent by the reply's id, so that a call whose answer was lost is called again; with
   may_start false it only looks.
   Called in autocommit, like all functions here: an instance that is paused inside a transaction would hold its row
   locked against its own fencing.
   p_message: {agent_id, session_id, end_user (whose session it must be; null or absent: anybody's), user_id, reply_id,
   model, include_usage, key, body_hash (hex), is_retry, may_start, configuration (its version that the request was made
   from; null: any), make_session (a session that does not exist is made for end_user, with the message or not at all;
   absent: not_found), secret_number (of the client secret that makes it; absent: none)}.
   Answers {outcome, reply_id, session_num, first_seq, created_at, position, rest_state, untitled, first_text (of an
   untitled session: its first user message; null: the new one), by_key (joined by its idempotency key)}. */
create or replace function admit_message(
  p_instance uuid, p_epoch bigint, p_message jsonb, p_text text
) returns jsonb language plpgsql as $$
declare
  m record;
  s record;
  last record;
  seen record;
  own record;
  v_fenced boolean;
  v_rest_state text;
  v_position integer;
  v_first_text text;
  v_created_at timestamptz;
begin
  select * into m from jsonb_to_record(p_message) as x(
    agent_id uuid, session_id uuid, end_user text, user_id uuid, reply_id uuid, model text, include_usage boolean,
    key text, body_hash text, is_retry boolean, may_start boolean, configuration bigint, make_session boolean,
    secret_number bigint);

  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for key share;
  v_fenced := not found;

  select x.num, x.next_seq, x.title into s from sessions x
   where x.id = m.session_id and x.agent_id = m.agent_id and (m.end_user is null or x.end_user = m.end_user)
     for update;
  if not found then
    if m.make_session is not true then return '{"outcome": "not_found"}'; end if;
    if v_fenced then return '{"outcome": "fenced"}'; end if;
    -- Not not_found, which stands for ever: a call whose answer was lost may be about to make it.
    if not m.may_start then return '{"outcome": "refused"}'; end if;
    if m.configuration <> (select c.version from configuration c) then return '{"outcome": "stale"}'; end if;
    if m.secret_number is not null then
      begin
        perform check_client_secret(m.agent_id, m.end_user, m.secret_number);
      exception when sqlstate 'GR401' then return '{"outcome": "revoked"}';
      end;
    end if;
    insert into sessions (id, agent_id, end_user)
    select m.session_id, a.id, m.end_user from agents a where a.id = m.agent_id for key share
    on conflict (id) do nothing; -- made meanwhile by another message, or somebody else's
    select x.num, x.next_seq, x.title into s from sessions x
     where x.id = m.session_id and x.agent_id = m.agent_id and (m.end_user is null or x.end_user = m.end_user)
       for update;
    if not found then return '{"outcome": "not_found"}'; end if;
  end if;

  select x.id, x.position, x.status, x.finish_reason, x.requester_lost into last from messages x
   where x.session_id = m.session_id and x.first_seq is not null and x.id <> m.reply_id order by x.position desc limit 1;
  v_rest_state := case
    when last.id is null then 'idle'
    when last.status = 'error' then 'error'
    when last.finish_reason = 'cancelled' then 'cancelled'
    else 'complete' end;

  if s.title is null then
    select left(x.content, 10000) into v_first_text from messages x
     where x.session_id = m.session_id and x.role = 'user' order by x.position limit 1;
  end if;

  -- Our own, of a call whose answer was lost. It comes before whatever may refuse a new message, the fence included: a
  -- message that is stored is never said not to be. The session's lock has waited for a call that is still under way,
  -- and whoever raised the epoch for one that had passed the fence: what is not here now will not come under this epoch
  -- once that was raised. Of a reply that has been settled, or is another epoch's, the row is only read.
  select x.position, x.status, x.epoch, x.first_seq, x.created_at into own from messages x where x.id = m.reply_id;
  if found then
    return jsonb_build_object(
      'outcome', case when own.status = 'streaming' and own.epoch = p_epoch and not v_fenced
                      then 'admitted' else 'joined' end,
      'reply_id', m.reply_id, 'session_num', s.num, 'first_seq', own.first_seq, 'created_at', own.created_at,
      'position', own.position, 'rest_state', v_rest_state, 'untitled', s.title is null, 'first_text', v_first_text);
  end if;
  if v_fenced then return '{"outcome": "fenced"}'; end if;

  if m.key is not null then
    select k.body_hash, k.reply_id into seen from idempotency_keys k
     where k.session_id = m.session_id and k.key = m.key and k.created_at > clock_timestamp() - interval '24 hours';
    if found then
      return jsonb_build_object(
        'outcome', case when seen.body_hash = decode(m.body_hash, 'hex') then 'joined' else 'key_reused' end,
        'reply_id', seen.reply_id, 'by_key', true);
    end if;
  end if;

  if m.is_retry and last.id is not null and (last.status = 'streaming' or last.requester_lost) then
    perform 1 from messages u
     where u.session_id = m.session_id and u.position = last.position - 1 and u.content = p_text
       and u.created_at > clock_timestamp() - interval '10 minutes';
    if found then return jsonb_build_object('outcome', 'joined', 'reply_id', last.id); end if;
  end if;

  if last.status = 'streaming' then return '{"outcome": "busy"}'; end if;
  if not m.may_start then return '{"outcome": "refused"}'; end if;
  -- The agent that the request was made from may be another one now.
  if m.configuration <> (select c.version from configuration c) then return '{"outcome": "stale"}'; end if;

  -- Replies are last, but for the messages that a session was made with.
  v_position := coalesce(last.position, (select max(x.position) from messages x where x.session_id = m.session_id), -1) + 2;
  v_created_at := clock_timestamp();
  insert into messages (id, session_id, position, role, status, content, created_at)
  values (m.user_id, m.session_id, v_position - 1, 'user', 'complete', p_text, v_created_at);
  insert into messages (id, session_id, position, role, status, created_at, session_num, model, first_seq,
                        include_usage, instance_id, epoch)
  values (m.reply_id, m.session_id, v_position, 'assistant', 'streaming', v_created_at, s.num, m.model, s.next_seq,
          m.include_usage, p_instance, p_epoch);
  if m.key is not null then
    insert into idempotency_keys (session_id, key, body_hash, reply_id)
    values (m.session_id, m.key, decode(m.body_hash, 'hex'), m.reply_id)
    on conflict (session_id, key) do update
      set body_hash = excluded.body_hash, reply_id = excluded.reply_id, created_at = clock_timestamp();
  end if;
  update sessions set updated_at = v_created_at, status = 'streaming', error_code = null where id = m.session_id;
  return jsonb_build_object(
    'outcome', 'admitted', 'reply_id', m.reply_id, 'session_num', s.num, 'first_seq', s.next_seq,
    'created_at', v_created_at, 'position', v_position, 'rest_state', v_rest_state,
    'untitled', s.title is null, 'first_text', v_first_text);
end $$;
