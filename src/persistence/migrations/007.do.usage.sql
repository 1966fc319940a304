-- What was used of models, as it is billed: every reply that ended, however it ended, stateless ones too. Rows outlive
-- sessions and agents (no foreign keys); after a week they are folded to one for each hour, agent and model.
create table token_usage (
  id                uuid primary key, -- the reply's: whoever writes it twice writes it once
  at                timestamptz not null,
  agent_id          uuid not null,
  model             text not null,
  replies           integer not null,
  prompt_tokens     bigint not null,
  completion_tokens bigint not null,
  estimated         boolean not null,
  folded            boolean not null default false
);
create index token_usage_by_time on token_usage (at);
create index token_usage_to_fold on token_usage (at) where not folded;

insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated)
select m.id, coalesce(m.ended_at, m.settled_at), s.agent_id, coalesce(m.model, ''), 1, coalesce(m.prompt_tokens, 0),
       coalesce(m.completion_tokens, 0), coalesce(m.usage_estimated, true)
  from messages m join sessions s on s.id = m.session_id
 where m.role = 'assistant' and m.status <> 'streaming';

/* As before, and counts what was used. Of a reply whose owner was lost nobody knows that: four characters of the
   conversation count as a token then. */
create or replace function fold_reply(
  p_reply uuid, p_finish text, p_error_code text, p_error_message text, p_error_detail text, p_prompt_tokens integer,
  p_completion_tokens integer, p_estimated boolean, p_ended_at timestamptz, p_requester_lost boolean, p_title text
) returns text language plpgsql as $$
declare
  r record;
  v_agent uuid;
  v_content text;
  v_ends integer[];
  v_tools jsonb;
  v_prompt_tokens integer;
  v_completion_tokens integer;
begin
  select m.session_id, m.session_num, m.first_seq, m.include_usage, m.position, m.model into r
    from messages m where m.id = p_reply;
  if not found then return 'gone'; end if;
  select s.agent_id into v_agent from sessions s where s.id = r.session_id for update;
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

  v_prompt_tokens := p_prompt_tokens;
  if v_prompt_tokens is null then
    select least(ceil(coalesce(sum(char_length(m.content)), 0) / 4.0), 2147483647) into v_prompt_tokens
      from messages m where m.session_id = r.session_id and m.position < r.position;
  end if;
  v_completion_tokens := coalesce(p_completion_tokens, ceil(char_length(v_content) / 4.0));

  update messages m
     set status = case when p_finish = 'error' then 'error' else 'complete' end, finish_reason = p_finish,
         content = v_content, frame_ends = v_ends, tool_events = v_tools, error_code = p_error_code,
         error_message = p_error_message, error_detail = p_error_detail, prompt_tokens = v_prompt_tokens,
         completion_tokens = v_completion_tokens, usage_estimated = coalesce(p_estimated, true), ended_at = p_ended_at,
         settled_at = clock_timestamp(), requester_lost = p_requester_lost
   where m.id = p_reply and m.status = 'streaming';
  if not found then return 'settled'; end if;

  insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated)
  values (p_reply, p_ended_at, v_agent, coalesce(r.model, ''), 1, v_prompt_tokens, v_completion_tokens,
          coalesce(p_estimated, true))
  on conflict do nothing;

  delete from frames f where f.session_num = r.session_num;
  update sessions s -- role frame, texts, then: error | finish, [usage], done
     set next_seq = r.first_seq + cardinality(v_ends) + 1
           + case when p_finish = 'error' then 1 when r.include_usage then 3 else 2 end,
         title = coalesce(s.title, p_title), updated_at = clock_timestamp()
   where s.id = r.session_id;
  return 'settled';
end $$;
