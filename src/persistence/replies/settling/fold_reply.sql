-- revision 21
/* Ends a running reply: what it said becomes the message's content, its outcome is set, its usage counted. The caller
   holds the instance's lock, and clears the frames (clear_frames). Answers settled (also when it already was) or gone.
   p_outcome: {title, next_seq, waiting, steps} and columns of messages by their names. steps ({ms, told, requests; of older versions {ms,
   steps, requests}}): a row of step_runs; ms: when its last step was told, by the clock of the instance; the time since is added. waiting: see keep_waiting_calls. next_seq:
   frames below it may still come, from a write that nobody waits for any more; the session's next reply keeps out of their ids. Unknown usage is estimated: four
   characters of its path count as a token then.
   p_content with p_ends, p_events and the reasoning in p_outcome is what the frames say; null: they are read.
   settle_replies says the same for many, and settled-together.test.ts compares them: one statement for both took 181 µs
   of processor time alone instead of 105. */
create or replace function fold_reply(
  p_reply uuid, p_outcome jsonb, p_content text, p_ends integer[], p_events jsonb
) returns text language plpgsql as $$
declare
  o messages := jsonb_populate_record(null::messages, p_outcome);
  r record;
  v_agent uuid;
  v_has_parent boolean; -- the session
  v_is_first boolean;
begin
  select m.session_id, m.first_seq, m.include_usage, m.position, m.parent, m.model, m.facts ? 'counts' as counts,
         m.instance_id, m.facts ->> 'agentVersion' as version into r
    from messages m where m.id = p_reply;
  if not found then return 'gone'; end if;
  select s.agent_id, s.parent is not null into v_agent, v_has_parent from sessions s where s.id = r.session_id for no key update;
  if not found then return 'gone'; end if;

  if p_content is null then
    select f.content, f.ends, f.events, f.reasoning, f.reasoning_frames, f.reasoning_ends
      into p_content, p_ends, p_events, o.reasoning, o.reasoning_frames, o.reasoning_ends from fold_frames(p_reply) f;
  end if;
  if p_events is not null then -- the last turn's model: another than the reply began with, maybe
    select coalesce(max(e.stored -> 'event' ->> 'model'), r.model) into r.model
      from (select x.stored from jsonb_array_elements(p_events) with ordinality as x (stored, place)
             where x.stored -> 'event' ->> 'type' = 'model' order by x.place desc limit 1) e;
  end if;
  if o.prompt_tokens is null then
    select least(ceil(coalesce(sum(char_length(m.content)), 0) / 4.0), 2147483647) into o.prompt_tokens
      from path_lines(r.session_id, coalesce(r.parent, r.position - 1)) l
      join messages m on m.session_id = r.session_id and m.position between l.first_at and l.last_at;
  end if;
  o.completion_tokens := coalesce(o.completion_tokens, ceil((char_length(p_content) + coalesce(char_length(o.reasoning), 0)) / 4.0));
  o.usage_estimated := coalesce(o.usage_estimated, true);

  update messages m
     set status = case when o.finish_reason = 'error' then 'error' else 'complete' end, finish_reason = o.finish_reason,
         content = p_content, frame_ends = p_ends, tool_events = p_events, error_code = o.error_code,
         error_message = o.error_message, error_detail = o.error_detail, prompt_tokens = o.prompt_tokens,
         completion_tokens = o.completion_tokens, usage_estimated = o.usage_estimated, ended_at = o.ended_at,
         settled_at = clock_timestamp(), requester_lost = o.requester_lost, reasoning = o.reasoning,
         reasoning_frames = o.reasoning_frames, reasoning_ends = o.reasoning_ends, reasoning_ms = o.reasoning_ms,
         facts = (case when o.facts is null then m.facts else coalesce(m.facts, '{}') || o.facts end)
           - '{start,values,handedOver}'::text[],
         shown_calls = o.shown_calls
   where m.id = p_reply and m.status not in ('complete', 'error'); -- not by an index of all that run
  v_is_first := found;
  if p_outcome ? 'steps' then
    -- Of a reply that has ended they may be stored: by an earlier call, whose answer was lost.
    insert into step_runs (session_id, message_id, instance_id, at, steps, told, requests)
    select r.session_id, p_reply, r.instance_id,
           to_timestamp((p_outcome #>> '{steps,ms}')::float8 / 1000) + (clock_timestamp() - statement_timestamp()),
           p_outcome #> '{steps,steps}', p_outcome #>> '{steps,told}', p_outcome #> '{steps,requests}'
     where v_is_first or not exists (
       select 1 from step_runs x
        where x.session_id = r.session_id and x.message_id = p_reply
          and (x.told = p_outcome #>> '{steps,told}' or x.steps = p_outcome #> '{steps,steps}'));
  end if;
  if not v_is_first then return 'settled'; end if;

  insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated, first_token_ms,
                           duration_ms, failures, cached_tokens, cache_write_tokens, reasoning_tokens, version)
  select p_reply, o.ended_at, v_agent, coalesce(r.model, ''), 1, o.prompt_tokens, o.completion_tokens, o.usage_estimated,
         (o.facts ->> 'firstTokenMs')::integer, (o.facts ->> 'durationMs')::integer,
         case when o.finish_reason = 'error' then 1 else 0 end,
         coalesce((o.facts -> 'counted' ->> 'cachedTokens')::bigint, 0),
         coalesce((o.facts -> 'counted' ->> 'cacheWriteTokens')::bigint, 0),
         coalesce((o.facts -> 'counted' ->> 'reasoningTokens')::bigint, 0), r.version
   -- No conflict clause, which writes each row's confirmation to the WAL: nobody else counts a reply that has just ended here.
   where not exists (select from token_usage u where u.id = p_reply);
  if r.counts then perform count_use(array[p_reply]); end if;

  perform keep_waiting_calls(r.session_id, p_reply, p_outcome -> 'waiting', p_events);
  if v_has_parent and p_outcome -> 'waiting' is not null then perform mark_above(r.session_id); end if;

  update sessions s -- role frame, texts and reasoning, then: error | [calls], finish, [usage], done
     set next_seq = greatest(
           r.first_seq + cardinality(p_ends) + 1 + case when o.shown_calls is not null then 1 else 0 end
             + case when o.finish_reason = 'error' then 1 when r.include_usage then 3 else 2 end,
           (p_outcome ->> 'next_seq')::bigint),
         bytes = s.bytes + octet_length(p_content) + coalesce(octet_length(o.reasoning), 0)
                 + coalesce(octet_length(p_events::text), 0),
         title = coalesce(s.title, p_outcome ->> 'title'), updated_at = clock_timestamp(),
         -- A reply that ends is its session's newest: while it runs none is admitted.
         status = rest_state(o.finish_reason), error_code = o.error_code
   where s.id = r.session_id;
  if exists (select from webhooks w where w.enabled) then perform tell_ended(array[p_reply]); end if;
  return 'settled';
end $$;
