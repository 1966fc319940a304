-- revision 27
/* Admits many messages of one instance at once: those that nothing stands against, to sessions that nobody else works on, and
   to new sessions for which nothing has to be judged. Waits for no existing session. Stores and returns for each what
   admit_message does: admission-twins.test.ts compares every column. The other messages, and all but the first to a session, are
   admit_message's to decide or refuse, in their order. Messages under limits are answered whether they pass or not, and wait
   for others of the same subject: they come in statements of their own.
   p_messages: [fields as in message_fields, with text], all with may_start, without is_retry, decisions, answers and begins. */
create or replace function admit_messages(p_instance uuid, p_epoch bigint, p_messages jsonb)
returns jsonb language plpgsql
-- The number of rows is not known when this is planned; every table is large, and entered by its keys.
-- To PostgreSQL 15 to 17 a scan that is off and has to be is a plan worth compiling: two seconds a call.
set enable_seqscan to off set enable_hashjoin to off set enable_mergejoin to off set jit to off as $$
declare
  v_made uuid[] := '{}'; -- sessions that are made here, as their first messages leave them
  v_free jsonb; -- how many sessions may be made for each agent and user, by both
  v_begun bigint; -- how many of them have their message
  v_full text[] := '{}'; -- agents and users whose messages admit_message decides: together they may be more than there is room for
  v_sessions uuid[];
  v_now timestamptz;
  v_answers jsonb;
  v_limited jsonb; -- answers of those that a limit refuses
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for key share;
  if not found then return '[]'; end if;
  if p_messages @? '$[*] ? (@.make_session == true)' then
    select jsonb_object_agg(u.agent_id || ' ' || u.end_user, free_sessions(u.agent_id, u.end_user, u.max_user_sessions))
      into v_free
      from (select distinct m.agent_id, m.end_user, m.max_user_sessions
              from jsonb_to_recordset(p_messages) as m(
                     session_id uuid, agent_id uuid, end_user text, make_session boolean, max_user_sessions bigint,
                     max_user_bytes bigint)
             where m.make_session and m.max_user_sessions is not null and m.end_user is not null and m.max_user_bytes is null
               and not exists (select from sessions s where s.id = m.session_id)
             order by 1, 2) u; -- two instances wait for the same users in one order
    with made as (
      insert into sessions (id, agent_id, end_user, external_id, title, title_is_draft, status, bytes)
      select m.session_id, a.id, m.end_user, m.external_id, m.derived_title,
             m.derived_title is not null and coalesce(m.title_is_draft, false), 'streaming', b.added
        from (
          select m.*, row_number() over (partition by m.agent_id, m.end_user order by m.n) as place_of_user from (
          select distinct on (m.session_id) m.*
            from rows from (jsonb_to_recordset(p_messages) as (
                   session_id uuid, agent_id uuid, end_user text, text text, configuration bigint, place jsonb, parts jsonb,
                   derived_title text, title_is_draft boolean, max_session_bytes bigint, max_user_bytes bigint, limits jsonb,
                   make_session boolean, external_id text, secret_number bigint)) with ordinality as m(
                   session_id, agent_id, end_user, text, configuration, place, parts, derived_title, title_is_draft,
                   max_session_bytes, max_user_bytes, limits, make_session, external_id, secret_number, n)
           order by m.session_id, m.n) m) m
       cross join lateral (select x.id from agents x where x.id = m.agent_id for key share skip locked) a
       cross join lateral (select octet_length(m.text) + coalesce(parts_bytes(m.parts), 0) as added) b
       where m.make_session and m.place is null and m.limits is null and m.secret_number is null
         and (m.max_session_bytes is null or b.added <= m.max_session_bytes)
         and (m.max_user_bytes is null or m.end_user is null)
         and m.place_of_user <= coalesce((v_free ->> (m.agent_id || ' ' || m.end_user))::bigint, m.place_of_user)
         and (m.configuration is null or m.configuration = (select c.version from configuration c))
       -- One made meanwhile under the same external id is waited for: two instances come to theirs in the same order.
       order by m.external_id, m.agent_id, m.end_user, m.session_id
      on conflict do nothing
      returning id)
    select coalesce(array_agg(id), '{}') into v_made from made;
  end if;
  v_sessions := array(
    select s.id from jsonb_to_recordset(p_messages) as m(session_id uuid, agent_id uuid, end_user text, on_busy text)
     cross join lateral ( -- a join may be planned from all sessions: without statistics hardly any has an empty queue
       select x.id from sessions x
        where x.id = m.session_id and x.agent_id is not distinct from m.agent_id -- see lock_session
          and (m.end_user is null or x.end_user = m.end_user) and x.queued = 0
          and x.parent is null and (x.status <> 'waiting' or m.on_busy is distinct from 'enqueue') -- see judge_message
          for no key update skip locked) s);
  if v_sessions = '{}' then return '[]'; end if;
  if p_messages @? '$[*].max_user_bytes' then
    select coalesce(array_agg(u.agent_id || ' ' || u.end_user), '{}')
      into v_full
      from (select m.agent_id, s.end_user, m.max_user_bytes as most,
                   sum(octet_length(m.text) + coalesce(parts_bytes(m.parts), 0))::bigint as added
              from jsonb_to_recordset(p_messages) as m(
                     session_id uuid, agent_id uuid, text text, parts jsonb, max_user_bytes bigint)
              join sessions s on s.id = m.session_id and s.id = any(v_sessions)
             where m.max_user_bytes is not null and s.end_user is not null
             group by m.agent_id, s.end_user, m.max_user_bytes) u
     where user_full(u.agent_id, u.end_user, u.added, u.most, false) is not false;
  end if;
  if p_messages @? '$[*].limits' then
    perform lock_limits((
      select array_agg(x.subject)
        from jsonb_to_recordset(p_messages) as m(session_id uuid, agent_id uuid, limits jsonb)
        join sessions s on s.id = m.session_id
       cross join lateral (values (m.limits #>> '{key,id}'),
                                  (case when m.limits ? 'user' then m.agent_id || ' ' || s.end_user end)) as x (subject)));
  end if;
  v_now := clock_timestamp();

  -- Behind the locks: what is read here is as it was committed last.
  with wanted as materialized (
    select distinct on (m.session_id) m.*
      from rows from (jsonb_to_recordset(p_messages) as (
             session_id uuid, agent_id uuid, end_user text, user_id uuid, reply_id uuid, text text, model text,
             include_usage boolean, key text, body_hash text, configuration bigint, pin integer, place jsonb, parts jsonb, facts jsonb,
             decided_by text, derived_title text, title_is_draft boolean, uses_values boolean, max_session_bytes bigint,
             max_user_bytes bigint, limits jsonb, history jsonb)) with ordinality as m(
             session_id, agent_id, end_user, user_id, reply_id, text, model, include_usage, key, body_hash, configuration,
             pin, place, parts, facts, decided_by, derived_title, title_is_draft, uses_values, max_session_bytes, max_user_bytes,
             limits, history, n)
     order by m.session_id, m.n
  ), open as materialized (
    select m.*, s.num, s.next_seq, s.head, s.end_user as owner, s.metadata - s.uncounted as metadata,
           coalesce(s.title, t.title) is null as is_untitled, t.title as new_title,
           s.title_is_draft or (t.title is not null and coalesce(m.title_is_draft, false)) as is_draft,
           last.position as last_position, last.finish_reason,
           p.at, p.id as parent_id, p.content, p.before_at, x.next, x.is_straight,
           case when x.is_straight then p.line else x.next end as line,
           case when not x.is_straight then lines_before(m.session_id, p.at, p.line) end as lines_before, x.is_regenerate,
           case when x.is_regenerate then x.next else x.next + 1 end as position, s.bytes as bytes_before,
           s.bytes + b.added as bytes, case when x.is_regenerate then p.before_at else p.at end as history_end
      from wanted m
      join sessions s on s.id = m.session_id and s.id = any(v_sessions) and s.agent_id is not distinct from m.agent_id
       and (m.end_user is null or s.end_user = m.end_user)
      left join lateral (
        select x.id, x.position, x.line, x.status, x.finish_reason from messages x
         where x.session_id = m.session_id and x.first_seq is not null order by x.position desc limit 1) last on true
     cross join lateral (
        -- Offset: worked out once. Merged into the query it would be looked up wherever it is named.
        select coalesce(greatest(last.position, s.given_at), (select max(b.position) from messages b where b.session_id = m.session_id), -1) + 1
                 as next
        offset 0) n
     cross join lateral (
        select null::text as fault, last.position as at, last.line, last.id, null::text as content, null::integer as before_at
         where m.place is null and last.id is not null and coalesce(s.head, last.position) = last.position
        union all
        select null, -1, null, null, null, null where m.place is null and n.next = 0
        union all
        select f.fault, f.at, f.line, f.id, f.content, f.before_at from find_place(m.session_id, s.head, m.place) f
         where m.place is not null or n.next > 0 and (last.id is null or coalesce(s.head, last.position) <> last.position)) p
     cross join lateral (
        select n.next, p.at = n.next - 1 as is_straight, coalesce(m.place ? 'regenerate', false) as is_regenerate offset 0) x
     cross join lateral (
        select case when x.next = 0 and s.title is null then m.derived_title end as title) t
     cross join lateral (
        select case when x.is_regenerate or m.session_id = any(v_made) then 0
                    else octet_length(m.text) + coalesce(parts_bytes(m.parts), 0) end as added) b
     where m.session_id = any(v_sessions) and s.bytes is not null and s.compaction is null
       and (m.max_session_bytes is null or s.bytes + b.added <= m.max_session_bytes)
       and (m.agent_id || ' ' || s.end_user = any(v_full)) is not true
       and p.fault is null and last.status is distinct from 'streaming'
       -- Offset: looked up by its key, never a join with all of them.
       and not exists (select 1 from messages own where own.id = m.reply_id offset 0)
       and not exists (select 1 from idempotency_keys k where k.session_id = m.session_id and k.key = m.key
                          and k.created_at > v_now - interval '24 hours' offset 0)
       and (m.configuration is null or m.configuration = (select c.version from configuration c))
       and (m.pin is null or m.pin = coalesce(s.agent_version, 0))
  ), judged as materialized ( -- one after the other: each sees what those before it have counted
    select m.*, case when m.limits is not null then
             judge_limits(m.limits || jsonb_build_object('begun', b.begun), m.agent_id, m.owner, m.reply_id, 'take',
                          null, null, null) end as verdict
      from open m
     cross join (select jsonb_agg(o.reply_id) as begun from open o where o.limits is not null) b
  ), plain as materialized (
    select m.*, case when m.uses_values then jsonb_build_object('user', m.owner, 'metadata', m.metadata) end as told
      from judged m where m.verdict is null or not m.verdict ? 'over'
  ), question as (
    insert into messages (id, session_id, position, role, status, content, created_at, parent, line, lines_before)
    select m.user_id, m.session_id, m.next, 'user', 'complete', m.text, v_now, case when not m.is_straight then m.at end, m.line,
           m.lines_before
      from plain m where not m.is_regenerate
  ), reply as (
    insert into messages (id, session_id, position, role, status, created_at, session_num, model, first_seq, include_usage,
                          instance_id, epoch, parent, line, lines_before, asked_place, facts)
    select m.reply_id, m.session_id, m.position, 'assistant', 'streaming', v_now, m.num, m.model, m.next_seq, m.include_usage,
           p_instance, p_epoch, case when m.is_regenerate and not m.is_straight then m.at end, m.line,
           case when m.is_regenerate then m.lines_before end, m.place,
           case when m.told is null then m.facts else coalesce(m.facts, '{}') || jsonb_build_object('values', m.told) end
      from plain m
  ), named as (
    insert into idempotency_keys (session_id, key, body_hash, reply_id)
    select m.session_id, m.key, decode(m.body_hash, 'hex'), m.reply_id from plain m where m.key is not null
    on conflict (session_id, key) do update
      set body_hash = excluded.body_hash, reply_id = excluded.reply_id, created_at = clock_timestamp()
  ), begun as (
    update sessions s
       set updated_at = v_now, status = 'streaming', error_code = null, title = coalesce(s.title, m.new_title),
           title_is_draft = m.is_draft, bytes = m.bytes,
           head = case when m.head is not null or not m.is_straight then m.position end
      from plain m where s.id = m.session_id and s.id = any(v_sessions) and s.id <> all(v_made)
  )
  select coalesce(jsonb_agg(jsonb_build_object(
           'outcome', 'admitted', 'reply_id', m.reply_id, 'session_num', m.num, 'first_seq', m.next_seq,
           'created_at', v_now, 'position', m.position,
           'rest_state', case when m.last_position is null then 'idle' else rest_state(m.finish_reason) end,
           'untitled', m.is_untitled or m.is_draft,
           'first_text', case when m.is_untitled or m.is_draft then (
              select left(b.content, 10000) from messages b
               where b.session_id = m.session_id and b.role = 'user' order by b.position limit 1) end,
           'parent_id', m.parent_id, 'history_end', m.history_end, 'text', m.content,
           'values', m.told,
           'history', case when m.history_end >= 0 and m.bytes_before <= (m.history ->> 'within')::bigint then (
              select jsonb_agg(h) from path_history(m.session_id, m.history_end, (m.history ->> 'max_bytes')::bigint,
                                                    (m.history ->> 'max_tool_text')::integer) h) end,
           'rate', m.verdict -> 'rate')), '[]'),
         (select jsonb_agg(o.verdict || jsonb_build_object('outcome', 'limited', 'reply_id', o.reply_id))
            from judged o where o.verdict ? 'over'),
         count(*) filter (where m.session_id = any(v_made))
    into v_answers, v_limited, v_begun from plain m;
  -- The configuration has changed meanwhile, for example: admit_message answers each.
  if v_begun <> cardinality(v_made) then raise exception 'A session was made without its message.'; end if;

  if p_messages @? '$[*].parts' or v_answers @? '$[*] ? (@.rest_state == "waiting")' then
    perform case when m.parts is not null and not coalesce(m.place ? 'regenerate', false) then add_parts(m.session_id, m.user_id, m.parts) end,
            case when a.rest_state = 'waiting' then reject_calls(m.session_id, m.decided_by) end
       from jsonb_to_recordset(v_answers) as a(reply_id uuid, rest_state text)
       join jsonb_to_recordset(p_messages) as m(
              reply_id uuid, session_id uuid, user_id uuid, parts jsonb, place jsonb, decided_by text) on m.reply_id = a.reply_id;
  end if;
  return case when v_limited is null then v_answers else v_answers || v_limited end;
end $$;
