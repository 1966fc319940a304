-- revision 14
/* Makes the session that a message begins. p_message: see message_fields. p_added: the bytes that the message brings. p_fenced:
   the epoch of its instance is over.
   Returns {outcome} if no session is made, else {is_made}: false if another message has made it meanwhile, or another user has
   a session of this id. */
create or replace function make_session_for(p_message jsonb, p_added bigint, p_fenced boolean)
returns jsonb language plpgsql as $$
declare
  m record;
  v_verdict jsonb; -- of its limits
  v_brings bigint; -- the message with all that stands before it, in bytes
begin
  select * into m from jsonb_to_record(p_message) as x(
    agent_id uuid, session_id uuid, end_user text, reply_id uuid, may_start boolean, configuration bigint,
    make_session boolean, external_id text, begins jsonb, secret_number bigint, place jsonb, max_session_bytes bigint,
    max_user_bytes bigint, max_user_sessions bigint, limits jsonb, parts jsonb);
  -- None is made for a place among messages that it cannot have.
  if m.make_session is not true or coalesce(m.place ? 'regenerate', false) or m.place ->> 'parent' is not null then
    return '{"outcome": "not_found"}';
  end if;
  if p_fenced then return '{"outcome": "fenced"}'; end if;
  if m.may_start and m.configuration <> (select c.version from configuration c) then return '{"outcome": "stale"}'; end if;
  if m.limits is not null then -- a session that is made and taken back would be reported as deleted
    v_verdict := judge_limits(m.limits, m.agent_id, m.end_user, m.reply_id, 'look', null, null, null);
    if v_verdict ? 'over' then return v_verdict || '{"outcome": "limited"}'; end if;
  end if;
  -- Not not_found, which is final: a call whose answer was lost may be about to make the session.
  if not m.may_start then return '{"outcome": "refused"}'; end if;
  v_brings := p_added + coalesce((m.begins ->> 'bytes')::bigint + metadata_bytes(m.begins -> 'metadata'), 0);
  if v_brings > m.max_session_bytes then return '{"outcome": "session_full"}'; end if;
  if m.max_user_bytes is not null then
    if message_full(m.agent_id, m.end_user, v_brings, m.max_user_bytes, m.parts) then return '{"outcome": "user_full"}'; end if;
  end if;
  if free_sessions(m.agent_id, m.end_user, m.max_user_sessions) < 1 then
    -- Another message may have made this one as the last.
    if exists (select from sessions s
                where s.id = m.session_id
                   or s.agent_id = m.agent_id and s.external_id = m.external_id and s.end_user = m.end_user) then
      return '{"is_made": false}';
    end if;
    return '{"outcome": "too_many_sessions"}';
  end if;
  if m.secret_number is not null then
    begin
      perform check_client_secret(m.agent_id, m.end_user, m.secret_number);
    exception when sqlstate 'GR401' then return '{"outcome": "revoked"}';
    end;
  end if;
  insert into sessions (id, agent_id, end_user, external_id, title, title_is_draft, metadata, uncounted, bytes)
  select m.session_id, a.id, m.end_user, m.external_id, m.begins ->> 'title', m.begins ->> 'title' is not null,
         coalesce(m.begins -> 'metadata', '{}'),
         case when m.secret_number is null then '{}' else uncounted_metadata(coalesce(m.begins -> 'metadata', '{}'), '{}') end,
         v_brings - p_added
    from agents a where a.id = m.agent_id for key share
  on conflict do nothing; -- another message has made it meanwhile, perhaps under another id, or another user has it
  if not found then return '{"is_made": false}'; end if;
  if m.begins is not null then perform begin_session(m.session_id, m.begins); end if;
  return '{"is_made": true}';
end $$;
