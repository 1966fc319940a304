-- revision 18
/* Does what settle_reply does, for many replies of one owner, in one statement a step: 32 together take a sixth of their time alone. Ends
   those whose sessions nobody else is at work on, as fold_reply does, and waits for none; those with queued messages are left out. Answers the ones that it has
   ended; whatever became of the others is settle_reply's to say.
   p_replies: [{id, session_id, content, frame_ends, tool_events, title, next_seq, waiting, steps} and columns of messages by their
   names], see fold_reply. Arrays of numbers are text as PostgreSQL writes them, which is read faster. */
create or replace function settle_replies(p_instance uuid, p_epoch bigint, p_replies jsonb)
returns table (id uuid, settled_at timestamptz) language plpgsql
-- How many rows there are is not known when this is planned; all tables may be large, and are entered by their keys.
-- (What is off must not be compiled, see admit_messages.)
set enable_seqscan to off set enable_hashjoin to off set enable_mergejoin to off set jit to off as $$
#variable_conflict use_column
declare
  v_sessions uuid[];
  v_ended uuid[];
  v_counted uuid[]; -- those whose use counts for limits
  v_below uuid[]; -- those whose sessions have parents
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for key share;
  if not found then return; end if;
  v_sessions := array(
    select s.id from jsonb_to_recordset(p_replies) as o(session_id uuid)
     cross join lateral ( -- no join, see admit_messages
       select x.id from sessions x
        where x.id = o.session_id and x.queued = 0 -- the others are settle_reply's: it begins what is next
          for no key update skip locked) s);

  with o as materialized (
    select * from jsonb_to_recordset(p_replies) as x(
      id uuid, session_id uuid, content text, frame_ends integer[], tool_events jsonb, finish_reason text, error_code text,
      error_message text, error_detail text, prompt_tokens integer, completion_tokens integer, usage_estimated boolean,
      ended_at timestamptz, requester_lost boolean, reasoning text, reasoning_frames integer[], reasoning_ends integer[],
      reasoning_ms integer, facts jsonb, shown_calls jsonb, title text, next_seq bigint, steps jsonb)
     where x.session_id = any(v_sessions)
  ), ended as (
    update messages m
       set status = case when o.finish_reason = 'error' then 'error' else 'complete' end, finish_reason = o.finish_reason,
           content = o.content, frame_ends = o.frame_ends, tool_events = o.tool_events, error_code = o.error_code,
           error_message = o.error_message, error_detail = o.error_detail,
           prompt_tokens = case when o.prompt_tokens is not null then o.prompt_tokens else (
             select least(ceil(coalesce(sum(char_length(b.content)), 0) / 4.0), 2147483647)
               from path_lines(m.session_id, coalesce(m.parent, m.position - 1)) l
               join messages b on b.session_id = m.session_id and b.position between l.first_at and l.last_at) end,
           completion_tokens = coalesce(o.completion_tokens,
             ceil((char_length(o.content) + coalesce(char_length(o.reasoning), 0)) / 4.0)),
           usage_estimated = coalesce(o.usage_estimated, true), ended_at = o.ended_at, settled_at = clock_timestamp(),
           requester_lost = o.requester_lost, reasoning = o.reasoning, reasoning_frames = o.reasoning_frames,
           reasoning_ends = o.reasoning_ends, reasoning_ms = o.reasoning_ms,
           facts = (case when o.facts is null then m.facts else coalesce(m.facts, '{}') || o.facts end)
             - '{start,values,handedOver}'::text[],
           shown_calls = o.shown_calls
      from o
     where m.id = o.id and m.id = any(array(select x.id from o x)) -- no other is read, however it is planned
       and m.status not in ('complete', 'error') -- not by an index of all that run
       and m.instance_id = p_instance and m.epoch = p_epoch -- another instance may have taken it over
    returning m.id, m.session_id, m.first_seq, m.include_usage, m.model, m.prompt_tokens, m.completion_tokens,
              m.usage_estimated, m.ended_at, m.finish_reason, m.error_code, cardinality(m.frame_ends) as frames,
              m.shown_calls is not null as shows_calls,
              octet_length(m.content)::bigint + coalesce(octet_length(m.reasoning), 0)
                + coalesce(octet_length(m.tool_events::text), 0) as added, m.facts ? 'counts' as counts, m.facts ->> 'agentVersion' as version, o.tool_events, o.facts, o.title, o.next_seq, o.steps
  ), kept as (
    update sessions s -- role frame, texts and reasoning, then: error | [calls], finish, [usage], done
       set next_seq = greatest(
             e.first_seq + e.frames + 1 + case when e.shows_calls then 1 else 0 end
               + case when e.finish_reason = 'error' then 1 when e.include_usage then 3 else 2 end, e.next_seq),
           bytes = s.bytes + e.added, title = coalesce(s.title, e.title), updated_at = clock_timestamp(),
           -- A reply that ends is its session's newest: while it runs none is admitted.
           status = rest_state(e.finish_reason), error_code = e.error_code
      from ended e
     where s.id = e.session_id and s.id = any(v_sessions)
    returning e.*, s.agent_id, s.parent is not null as has_parent
  ), noted as (
    insert into step_runs (session_id, message_id, instance_id, at, steps, told, requests)
    select k.session_id, k.id, p_instance,
           to_timestamp((k.steps ->> 'ms')::float8 / 1000) + (clock_timestamp() - statement_timestamp()), k.steps -> 'steps',
           k.steps ->> 'told', k.steps -> 'requests'
      from kept k where k.steps is not null
  ), used as (
    insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated, first_token_ms,
                             duration_ms, failures, cached_tokens, cache_write_tokens, reasoning_tokens, version)
    select k.id, k.ended_at, k.agent_id,
           coalesce( -- the last turn's model: another than the reply began with, maybe
             case when k.tool_events is not null then (
               select t.stored -> 'event' ->> 'model'
                 from jsonb_array_elements(k.tool_events) with ordinality as t (stored, place)
                where t.stored -> 'event' ->> 'type' = 'model' order by t.place desc limit 1) end, k.model, ''),
           1, k.prompt_tokens, k.completion_tokens, k.usage_estimated, (k.facts ->> 'firstTokenMs')::integer,
           (k.facts ->> 'durationMs')::integer, case when k.finish_reason = 'error' then 1 else 0 end,
           coalesce((k.facts -> 'counted' ->> 'cachedTokens')::bigint, 0),
           coalesce((k.facts -> 'counted' ->> 'cacheWriteTokens')::bigint, 0),
           coalesce((k.facts -> 'counted' ->> 'reasoningTokens')::bigint, 0), k.version
      from kept k
     where not exists (select from token_usage u where u.id = k.id offset 0) -- see fold_reply
  )
  select array_agg(k.id), array_agg(k.id) filter (where k.counts), array_agg(k.id) filter (where k.has_parent)
    into v_ended, v_counted, v_below from kept k;
  if v_ended is null then return; end if;
  if v_counted is not null then perform count_use(v_counted); end if;

  perform keep_waiting_calls(o.session_id, o.id, o.waiting, o.tool_events)
     from jsonb_to_recordset(p_replies) as o(id uuid, session_id uuid, tool_events jsonb, waiting jsonb)
    where o.id = any(v_ended)
      and (o.waiting is not null or o.tool_events is not null
           or exists (select 1 from waiting_calls c where c.session_id = o.session_id and c.open)
           or exists (select 1 from reply_turns t where t.reply_id = o.id));
  if v_below is not null then
    perform mark_above(o.session_id) from jsonb_to_recordset(p_replies) as o(id uuid, session_id uuid, waiting jsonb)
      where o.id = any(v_below) and o.waiting is not null;
  end if;
  if exists (select from webhooks w where w.enabled) then perform tell_ended(v_ended); end if;
  return query select m.id, m.settled_at from messages m where m.id = any(v_ended);
end $$;
