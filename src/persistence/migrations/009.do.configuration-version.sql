-- One number for all that agents are configured with: whoever keeps an agent in memory can see that it is as it was.
create table configuration (
  only_row boolean primary key default true check (only_row),
  version  bigint not null default 1,
  xact     xid8 -- that raised it last: once a transaction
);
insert into configuration default values;

create function raise_configuration() returns trigger language plpgsql as $$
begin
  update configuration set version = version + 1, xact = pg_current_xact_id()
   where xact is distinct from pg_current_xact_id();
  return null;
end $$;

-- Deferred to the commit, so that the row is held for that long only, behind every other lock: what is written in any
-- order never deadlocks on it. The version and what it stands for become visible together.
create constraint trigger raise_configuration after insert or update or delete on agents
  deferrable initially deferred for each row execute function raise_configuration();
create constraint trigger raise_configuration after insert or update or delete on providers
  deferrable initially deferred for each row execute function raise_configuration();
create constraint trigger raise_configuration after insert or update or delete on prompts
  deferrable initially deferred for each row execute function raise_configuration();
create constraint trigger raise_configuration after insert or update or delete on agent_http_tools
  deferrable initially deferred for each row execute function raise_configuration();
create constraint trigger raise_configuration after insert or update or delete on agent_mcp_servers
  deferrable initially deferred for each row execute function raise_configuration();

/* As before, and says `stale` instead of admitting when the configuration has changed since p_configuration: the agent
   that the request was made from may be another one now. Null: whatever it is. */
create function admit_message(
  p_instance uuid, p_epoch bigint, p_agent uuid, p_session uuid, p_user uuid, p_reply uuid, p_text text, p_model text,
  p_include_usage boolean, p_key text, p_body_hash bytea, p_retry boolean, p_may_start boolean, p_configuration bigint,
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
  if p_configuration <> (select c.version from configuration c) then outcome := 'stale'; return; end if;

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
