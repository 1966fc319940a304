-- revision 6
/* Makes the session that answers a call of a running reply, with the call's message in its queue (rank 3: begin_children
   begins it). Repeated, it makes nothing more: the ids follow from the call.
   p_call: {session_id, user_id, reply_id, agent_id, parent_session, parent_reply, place, call_id, title, max_session_bytes,
   max_user_bytes, facts, along}, facts as in message_fields. along: it waits for no lock (see store_along).
   Returns open, or why there is none: over (the reply has ended), too_many, too_deep, no_agent, session_full, user_full, or
   limit and what judge_limits has of it (of, limit, most), with spaces between; with along also later. */
create or replace function open_child(p_call jsonb, p_text text, p_input text) returns text language plpgsql as $$
declare
  c record;
  v_parent record; -- its session
  v_above record; -- of children: what the parent answers; all null where it answers nothing
  v_values jsonb; -- {user, metadata} of the parent's session at the admission of the calling reply
  v_top uuid;
  v_full boolean; -- null: only whoever waits may know
  v_running jsonb; -- facts of the reply that calls
  v_limits record; -- of child_limits
begin
  select * into c from jsonb_to_record(p_call) as x(
    session_id uuid, user_id uuid, reply_id uuid, agent_id uuid, parent_session uuid, parent_reply uuid, place integer,
    call_id text, title text, max_session_bytes bigint, max_user_bytes bigint, facts jsonb, along boolean);
  perform 1 from children x where x.session_id = c.session_id;
  if found then return 'open'; end if;
  perform 1 from gone_children x where x.session_id = c.session_id;
  if found then return 'open'; end if; -- it was: whoever waits for it is told that it was deleted
  if c.along then
    perform 1 from sessions s where s.id = c.parent_session for key share skip locked;
    if not found then return 'later'; end if;
    perform 1 from agents a where a.id = c.agent_id for key share skip locked;
    if not found then return 'later'; end if;
  end if;
  select s.agent_id, s.end_user, s.metadata, s.uncounted into v_parent from sessions s
   where s.id = c.parent_session for key share; -- whoever deletes it finds the child, or is before it
  if not found or not may_go_on_with_children(c.parent_session, c.parent_reply) then return 'over'; end if;

  select x.* into v_above from children x where x.session_id = c.parent_session;
  v_top := coalesce(v_above.top_reply, first_of_replies(c.parent_session, c.parent_reply));
  if coalesce(v_above.depth, 0) >= 3 then return 'too_deep'; end if;
  if c.along then
    if not pg_try_advisory_xact_lock(hashtextextended('children ' || v_top, 0)) then return 'later'; end if;
  else
    perform pg_advisory_xact_lock(hashtextextended('children ' || v_top, 0));
  end if;
  if (select count(*) from children x where x.top_reply = v_top) >= 100 then return 'too_many'; end if;
  if octet_length(p_text) > c.max_session_bytes then return 'session_full'; end if;
  v_full := user_full(c.agent_id, v_parent.end_user, octet_length(p_text), c.max_user_bytes, c.along is not true);
  if v_full is null then return 'later'; end if;
  if v_full then return 'user_full'; end if;

  select m.facts into v_running from messages m where m.session_id = c.parent_session and m.status = 'streaming';
  v_values := v_running -> 'values' -> 'metadata';
  v_limits := child_limits(
    v_running #>> '{counts,key}', c.agent_id,
    coalesce((select s.agent_id from sessions s where s.id = v_above.top_session), v_parent.agent_id), v_parent.end_user);
  if v_limits.over is not null then
    return format('limit %s %s %s', v_limits.over ->> 'of', v_limits.over ->> 'limit', v_limits.over ->> 'most');
  end if;
  insert into sessions (id, agent_id, end_user, title, metadata, uncounted, bytes, queued, parent)
  select c.session_id, a.id, v_parent.end_user, c.title,
         case when v_values is null then v_parent.metadata else
           v_values || coalesce((select jsonb_object_agg(e.key, e.value) from jsonb_each(v_parent.metadata) e
                                  where e.key = any(v_parent.uncounted)), '{}') end,
         v_parent.uncounted, octet_length(p_text), 1,
         jsonb_build_object('agent_id', v_parent.agent_id, 'session_id', c.parent_session, 'message_id', c.parent_reply,
                            'call_id', c.call_id)
    from agents a where a.id = c.agent_id for key share
  on conflict do nothing;
  if not found then
    return case when exists (select from children x where x.session_id = c.session_id) then 'open' else 'no_agent' end;
  end if;
  insert into queued_messages (id, session_id, rank, reply_id, content, message, input)
  values (c.user_id, c.session_id, 3, c.reply_id, p_text,
          jsonb_build_object('version', 1, 'agent_id', c.agent_id, 'session_id', c.session_id, 'user_id', c.user_id,
                             'reply_id', c.reply_id, 'include_usage', false, 'uses_values', true,
                             'facts', c.facts || jsonb_strip_nulls(jsonb_build_object('counts', v_limits.counts))),
          p_input);
  insert into children (session_id, reply_id, parent_session, parent_reply, place, top_session, top_reply, depth)
  values (c.session_id, c.reply_id, c.parent_session, c.parent_reply, c.place,
          coalesce(v_above.top_session, c.parent_session), v_top, coalesce(v_above.depth, 0) + 1);
  return 'open';
end $$;
