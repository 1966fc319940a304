-- Frames of settled replies are deleted many replies at a time. Alone, each settlement paid more than twice as much for
-- it: the frames of one reply lie on a hundred pages, and every transaction that comes to a page tidies up what the one
-- before has deleted there. Instances of before know nothing of it: what they call still deletes.

/* As before; with `p_later` the frames stay, and the caller clears them (`clear_frames`). */
create function fold_reply(
  p_reply uuid, p_finish text, p_error_code text, p_error_message text, p_error_detail text, p_prompt_tokens integer,
  p_completion_tokens integer, p_estimated boolean, p_ended_at timestamptz, p_requester_lost boolean, p_title text,
  p_content text, p_ends integer[], p_tools jsonb, p_later boolean
) returns text language plpgsql as $$
declare
  r record;
  v_agent uuid;
  v_prompt_tokens integer := p_prompt_tokens;
begin
  select m.session_id, m.session_num, m.first_seq, m.include_usage, m.position, m.model into r
    from messages m where m.id = p_reply;
  if not found then return 'gone'; end if;
  select s.agent_id into v_agent from sessions s where s.id = r.session_id for update;
  if not found then return 'gone'; end if;

  if p_content is null then
    select coalesce(string_agg(f.event, '' order by f.seq) filter (where f.part = 0), ''),
           coalesce(array_agg(f.ends order by f.seq) filter (where f.part = 0), '{}'),
           jsonb_agg(jsonb_build_object('seq', f.seq, 'part', f.part,
                                        'event', case when f.part > 0 then f.event::jsonb end) order by f.seq, f.part)
             filter (where f.part > 0)
      into p_content, p_ends, p_tools
      from (select x.seq, x.part, x.event,
                   sum(case when x.part = 0 then octet_length(x.event) else 0 end)
                     over (order by x.seq, x.part)::integer as ends
              from frames x where x.session_num = r.session_num and x.seq >= r.first_seq) f;
  end if;

  if v_prompt_tokens is null then
    select least(ceil(coalesce(sum(char_length(m.content)), 0) / 4.0), 2147483647) into v_prompt_tokens
      from messages m where m.session_id = r.session_id and m.position < r.position;
  end if;
  p_completion_tokens := coalesce(p_completion_tokens, ceil(char_length(p_content) / 4.0));

  update messages m
     set status = case when p_finish = 'error' then 'error' else 'complete' end, finish_reason = p_finish,
         content = p_content, frame_ends = p_ends, tool_events = p_tools, error_code = p_error_code,
         error_message = p_error_message, error_detail = p_error_detail, prompt_tokens = v_prompt_tokens,
         completion_tokens = p_completion_tokens, usage_estimated = coalesce(p_estimated, true), ended_at = p_ended_at,
         settled_at = clock_timestamp(), requester_lost = p_requester_lost
   where m.id = p_reply and m.status = 'streaming';
  if not found then return 'settled'; end if;

  insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated)
  values (p_reply, p_ended_at, v_agent, coalesce(r.model, ''), 1, v_prompt_tokens, p_completion_tokens,
          coalesce(p_estimated, true))
  on conflict do nothing;

  if not p_later then delete from frames f where f.session_num = r.session_num; end if;
  update sessions s -- role frame, texts, then: error | finish, [usage], done
     set next_seq = r.first_seq + cardinality(p_ends) + 1
           + case when p_finish = 'error' then 1 when r.include_usage then 3 else 2 end,
         title = coalesce(s.title, p_title), updated_at = clock_timestamp()
   where s.id = r.session_id;
  return 'settled';
end $$;

create or replace function fold_reply(
  p_reply uuid, p_finish text, p_error_code text, p_error_message text, p_error_detail text, p_prompt_tokens integer,
  p_completion_tokens integer, p_estimated boolean, p_ended_at timestamptz, p_requester_lost boolean, p_title text,
  p_content text, p_ends integer[], p_tools jsonb
) returns text language plpgsql as $$
begin
  return fold_reply(p_reply, p_finish, p_error_code, p_error_message, p_error_detail, p_prompt_tokens,
                    p_completion_tokens, p_estimated, p_ended_at, p_requester_lost, p_title, p_content, p_ends, p_tools,
                    false);
end $$;

/* As before, with `p_later` as above. */
create function settle_reply(
  p_instance uuid, p_epoch bigint, p_reply uuid, p_finish text, p_error_code text, p_error_message text,
  p_error_detail text, p_prompt_tokens integer, p_completion_tokens integer, p_estimated boolean,
  p_ended_at timestamptz, p_requester_lost boolean, p_title text, p_content text, p_ends integer[], p_tools jsonb,
  p_later boolean, out outcome text, out settled_at timestamptz
) language plpgsql as $$
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for share;
  if not found then outcome := 'fenced'; return; end if;
  outcome := fold_reply(p_reply, p_finish, p_error_code, p_error_message, p_error_detail, p_prompt_tokens,
                        p_completion_tokens, p_estimated, p_ended_at, p_requester_lost, p_title,
                        p_content, p_ends, p_tools, p_later);
  select m.settled_at into settled_at from messages m where m.id = p_reply;
end $$;

/* Deletes what no running reply needs of the frames of these sessions: a session's next_seq is the first frame of its
   running reply, or of its next one. Without a session all goes. In order, so that two of these never deadlock. */
create function clear_frames(p_sessions bigint[]) returns void language plpgsql as $$
declare
  v_num bigint;
begin
  for v_num in select distinct n from unnest(p_sessions) n order by n loop
    delete from frames f
     where f.session_num = v_num
       and f.seq < coalesce((select s.next_seq from sessions s where s.num = v_num), 9223372036854775807);
  end loop;
end $$;
