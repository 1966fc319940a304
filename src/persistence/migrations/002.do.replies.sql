-- The steps of a reply that take more than one statement. Functions, called in autocommit: an instance that is
-- paused inside a transaction would hold its row locked against its own fencing.

alter table instances add column lost_at timestamptz; -- set when others declared it lost

/* Stores the user's message and opens its reply, or says why not. The insert decides: one running reply a
   session (one_running_reply). Idempotent by p_reply, so that a call whose answer was lost is called again. */
create function admit_message(
  p_instance uuid, p_epoch bigint, p_agent uuid, p_session uuid, p_user uuid, p_reply uuid, p_text text, p_model text,
  p_include_usage boolean, p_key text, p_body_hash bytea, p_retry boolean, p_may_start boolean,
  out outcome text, out reply_id uuid, out session_num bigint, out first_seq bigint, out created_at timestamptz,
  out reply_position integer, out rest_state text, out untitled boolean
) language plpgsql as $$
declare
  s record;
  last record;
  seen record;
  own record;
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for share;
  if not found then outcome := 'fenced'; return; end if;

  select x.num, x.next_seq, x.title into s from sessions x where x.id = p_session and x.agent_id = p_agent for update;
  if not found then outcome := 'not_found'; return; end if;

  if p_key is not null then
    select k.body_hash, k.reply_id into seen from idempotency_keys k
     where k.session_id = p_session and k.key = p_key and k.created_at > clock_timestamp() - interval '24 hours';
    if found and seen.reply_id <> p_reply then
      outcome := case when seen.body_hash = p_body_hash then 'joined' else 'key_reused' end;
      reply_id := seen.reply_id;
      return;
    end if;
  end if;

  select m.id, m.position, m.status, m.finish_reason, m.requester_lost into last from messages m
   where m.session_id = p_session and m.role = 'assistant' order by m.position desc limit 1;
  rest_state := case
    when last.id is null then 'idle'
    when last.status = 'error' then 'error'
    when last.finish_reason = 'cancelled' then 'cancelled'
    else 'complete' end;
  reply_position := coalesce(last.position, -1) + 2;
  untitled := s.title is null;
  session_num := s.num;
  first_seq := s.next_seq;

  -- Our own, of a call whose answer was lost. Once settled (as a stray) it is only read: nothing runs twice.
  select m.position, m.status, m.first_seq, m.created_at into own from messages m where m.id = p_reply;
  if found then
    outcome := case when own.status = 'streaming' then 'admitted' else 'joined' end;
    reply_id := p_reply;
    reply_position := own.position;
    first_seq := own.first_seq;
    rest_state := 'idle';
    created_at := own.created_at;
    return;
  end if;

  if p_retry and last.id is not null and (last.status = 'streaming' or last.requester_lost) then
    perform 1 from messages u
     where u.session_id = p_session and u.position = last.position - 1 and u.content = p_text
       and u.created_at > clock_timestamp() - interval '10 minutes';
    if found then outcome := 'joined'; reply_id := last.id; return; end if;
  end if;

  if last.status = 'streaming' then outcome := 'busy'; return; end if;
  if not p_may_start then outcome := 'refused'; return; end if;

  created_at := clock_timestamp();
  insert into messages (id, session_id, position, role, status, content, created_at)
  values (p_user, p_session, reply_position - 1, 'user', 'complete', p_text, created_at);
  insert into messages (id, session_id, position, role, status, created_at, session_num, model, first_seq,
                        include_usage, instance_id, epoch)
  values (p_reply, p_session, reply_position, 'assistant', 'streaming', created_at, s.num, p_model, s.next_seq,
          p_include_usage, p_instance, p_epoch);
  if p_key is not null then
    insert into idempotency_keys (session_id, key, body_hash, reply_id)
    values (p_session, p_key, p_body_hash, p_reply)
    on conflict (session_id, key) do update
      set body_hash = excluded.body_hash, reply_id = excluded.reply_id, created_at = clock_timestamp();
  end if;
  update sessions set updated_at = admit_message.created_at where id = p_session;
  outcome := 'admitted';
  reply_id := p_reply;
end $$;

/* Ends a running reply: its frames become the message's content and frame_ends, its outcome is set, its rows in
   frames go. The caller holds the instance's lock. Returns settled (also when it already was) or gone. */
create function fold_reply(
  p_reply uuid, p_finish text, p_error_code text, p_error_message text, p_error_detail text, p_prompt_tokens integer,
  p_completion_tokens integer, p_estimated boolean, p_ended_at timestamptz, p_requester_lost boolean, p_title text
) returns text language plpgsql as $$
declare
  r record;
  v_content text;
  v_ends integer[];
  v_tools jsonb;
begin
  select m.session_id, m.session_num, m.first_seq, m.include_usage into r from messages m where m.id = p_reply;
  if not found then return 'gone'; end if;
  perform 1 from sessions s where s.id = r.session_id for update;
  if not found then return 'gone'; end if;

  select coalesce(string_agg(f.event, '' order by f.seq) filter (where f.part = 0), ''),
         coalesce(array_agg(f.ends order by f.seq) filter (where f.part = 0), '{}'),
         jsonb_agg(jsonb_build_object('seq', f.seq, 'part', f.part,
                                      'event', case when f.part > 0 then f.event::jsonb end) order by f.seq, f.part)
           filter (where f.part > 0)
    into v_content, v_ends, v_tools
    from (select x.seq, x.part, x.event,
                 sum(case when x.part = 0 then octet_length(x.event) else 0 end)
                   over (order by x.seq, x.part)::integer as ends
            from frames x where x.session_num = r.session_num and x.seq >= r.first_seq) f;

  update messages m
     set status = case when p_finish = 'error' then 'error' else 'complete' end, finish_reason = p_finish,
         content = v_content, frame_ends = v_ends, tool_events = v_tools, error_code = p_error_code,
         error_message = p_error_message, error_detail = p_error_detail, prompt_tokens = p_prompt_tokens,
         completion_tokens = p_completion_tokens, usage_estimated = p_estimated, ended_at = p_ended_at,
         settled_at = clock_timestamp(), requester_lost = p_requester_lost
   where m.id = p_reply and m.status = 'streaming';
  if not found then return 'settled'; end if;

  delete from frames f where f.session_num = r.session_num;
  update sessions s -- role frame, texts, then: error | finish, [usage], done
     set next_seq = r.first_seq + cardinality(v_ends) + 1
           + case when p_finish = 'error' then 1 when r.include_usage then 3 else 2 end,
         title = coalesce(s.title, p_title), updated_at = clock_timestamp()
   where s.id = r.session_id;
  return 'settled';
end $$;

/* The owner's way to fold_reply: settled, gone, or fenced when this instance was declared lost meanwhile. */
create function settle_reply(
  p_instance uuid, p_epoch bigint, p_reply uuid, p_finish text, p_error_code text, p_error_message text,
  p_error_detail text, p_prompt_tokens integer, p_completion_tokens integer, p_estimated boolean,
  p_ended_at timestamptz, p_requester_lost boolean, p_title text,
  out outcome text, out settled_at timestamptz
) language plpgsql as $$
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for share;
  if not found then outcome := 'fenced'; return; end if;
  outcome := fold_reply(p_reply, p_finish, p_error_code, p_error_message, p_error_detail, p_prompt_tokens,
                        p_completion_tokens, p_estimated, p_ended_at, p_requester_lost, p_title);
  select m.settled_at into settled_at from messages m where m.id = p_reply;
end $$;

/* Settles a reply whose owner was declared lost. Returns its session when that has no title yet, for the caller
   to derive one. A reply whose owner still holds its epoch is left alone. */
create function lose_reply(p_reply uuid, p_by uuid) returns uuid language plpgsql as $$
declare
  r record;
  v_before text;
begin
  select m.session_id, m.instance_id, m.epoch, m.created_at, m.position into r
    from messages m where m.id = p_reply and m.status = 'streaming';
  if not found then return null; end if;
  perform 1 from instances i where i.id = r.instance_id and i.epoch = r.epoch for share;
  if found then return null; end if;
  perform 1 from sessions s where s.id = r.session_id for update;
  perform 1 from messages m where m.id = p_reply and m.status = 'streaming';
  if not found then return null; end if;

  perform fold_reply(p_reply, 'error', 'instance_lost', 'The instance that generated this reply was lost.',
                     'The instance that generated this reply was lost.', null, null, null, clock_timestamp(), true, null);

  -- The owner records its steps in batches: the last ones may have died with it.
  select t.to_state into v_before from transitions t where t.message_id = p_reply order by t.seq desc limit 1;
  if v_before is null then
    select case when m.status = 'error' then 'error' when m.finish_reason = 'cancelled' then 'cancelled' else 'complete' end
      into v_before from messages m
     where m.session_id = r.session_id and m.role = 'assistant' and m.position < r.position
     order by m.position desc limit 1;
    insert into transitions (session_id, at, from_state, to_state, event, message_id, instance_id)
    values (r.session_id, r.created_at, coalesce(v_before, 'idle'), 'streaming.generating', 'message', p_reply, r.instance_id);
    v_before := 'streaming.generating';
  end if;
  if v_before like 'streaming%' then
    insert into transitions (session_id, at, from_state, to_state, event, message_id, instance_id, detail)
    values (r.session_id, clock_timestamp(), v_before, 'error', 'lost', p_reply, p_by, '{"code": "instance_lost"}');
  end if;

  return (select s.id from sessions s where s.id = r.session_id and s.title is null);
end $$;

/* Removes a session with all that belongs to it; tells the owner of its running reply. False: no such session. */
create function delete_session(p_agent uuid, p_session uuid) returns boolean language plpgsql as $$
declare
  v_num bigint;
begin
  select s.num into v_num from sessions s where s.id = p_session and s.agent_id = p_agent for update;
  if not found then return false; end if;
  insert into intents (instance_id, kind, session_id, reply_id)
  select m.instance_id, 'delete', p_session, m.id from messages m
   where m.session_id = p_session and m.status = 'streaming';
  delete from sessions s where s.id = p_session;
  delete from frames f where f.session_num = v_num;
  return true;
end $$;

/* Removes an agent and its sessions. The agent is locked first, so that no session is made meanwhile. */
create function delete_agent(p_agent uuid) returns boolean language plpgsql as $$
begin
  perform 1 from agents a where a.id = p_agent for update;
  if not found then return false; end if;
  perform delete_session(p_agent, s.id) from (select x.id from sessions x where x.agent_id = p_agent order by x.num) s;
  delete from agents a where a.id = p_agent;
  return true;
end $$;
