-- revision 2
/* Stores what somebody thinks of a reply. p: {agent_id, session_id, message_id, given_by, name (of a login; a user's is the
   session's), score, comment, max_session_bytes, max_user_bytes, looks (true: only tells whether it would be something new)}.
   Returns {outcome, score, comment, created_at, updated_at}: outcome stored, same (nothing changed), new (looks alone),
   no_session, no_message, no_reply, running, session_full or user_full. It is no update of the session. */
create or replace function put_feedback(p jsonb) returns jsonb language plpgsql as $$
declare
  f record;
  s record;
  m record;
  old record;
  v_name text;
  v_added bigint;
  v_now timestamptz := clock_timestamp();
begin
  select * into f from jsonb_to_record(p) as x(
    agent_id uuid, session_id uuid, message_id uuid, given_by text, name text, score smallint, comment text,
    max_session_bytes bigint, max_user_bytes bigint, looks boolean);
  select x.id, x.end_user, x.bytes into s from sessions x
   where x.id = f.session_id and x.agent_id = f.agent_id for no key update;
  if not found then return '{"outcome": "no_session"}'; end if;
  select x.id, x.role, x.status, x.model, x.facts ->> 'agentVersion' as version into m from messages x
   where x.id = f.message_id and x.session_id = s.id;
  if not found then return '{"outcome": "no_message"}'; end if;
  if m.role <> 'assistant' then return '{"outcome": "no_reply"}'; end if;
  if m.status = 'streaming' then return '{"outcome": "running"}'; end if;
  v_name := coalesce(case when f.given_by = 'user' then s.end_user else f.name end, '');
  select x.score, x.comment, x.created_at, x.updated_at into old from feedback x
   where x.message_id = m.id and x.given_by = f.given_by and x.name = v_name;
  if found and old.score = f.score and old.comment is not distinct from f.comment then
    return jsonb_build_object('outcome', 'same', 'score', old.score, 'comment', old.comment, 'created_at', old.created_at,
                              'updated_at', old.updated_at);
  end if;
  if f.looks then return '{"outcome": "new"}'; end if;
  v_added := coalesce(octet_length(f.comment), 0) - coalesce(octet_length(old.comment), 0);
  if v_added > 0 then
    if coalesce(s.bytes, session_bytes(s.id)) + v_added > f.max_session_bytes then return '{"outcome": "session_full"}'; end if;
    if user_full(f.agent_id, s.end_user, v_added, f.max_user_bytes, true) then return '{"outcome": "user_full"}'; end if;
  end if;
  insert into feedback (message_id, given_by, name, session_id, agent_id, model, version, score, comment, created_at, updated_at)
  values (m.id, f.given_by, v_name, s.id, f.agent_id,
          coalesce((select u.model from token_usage u where u.id = m.id), m.model, ''), m.version, f.score, f.comment, v_now, v_now)
  on conflict (message_id, given_by, name) do update
    set score = excluded.score, comment = excluded.comment, updated_at = excluded.updated_at;
  if v_added <> 0 then update sessions x set bytes = x.bytes + v_added where x.id = s.id; end if;
  perform tell_feedback(m.id, f.given_by, f.score);
  return jsonb_build_object('outcome', 'stored', 'score', f.score, 'comment', f.comment,
                            'created_at', coalesce(old.created_at, v_now), 'updated_at', v_now);
end $$;
