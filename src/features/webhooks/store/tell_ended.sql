-- revision 2
/* Records for each webhook that wants it how these replies have ended, once for each reply. To be called in the statement
   that settles them. The body is written here, so that each attempt sends the same bytes. */
create or replace function tell_ended(p_replies uuid[]) returns void language sql as $$
  insert into webhook_deliveries (webhook_id, owner, type, session_id, message_id, body)
  select w.id, delivery_owner(s.agent_id, s.end_user), e.type, m.session_id, m.id,
         json_build_object(
           'type', e.type,
           'timestamp', to_char(m.settled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'data', json_build_object(
             'agent_id', s.agent_id, 'session_id', m.session_id, 'message_id', m.id, 'user', s.end_user,
             'metadata', s.metadata, 'status', m.status, 'finish_reason', m.finish_reason,
             'error', case when m.error_code is not null
                           then json_build_object('code', m.error_code, 'message', m.error_message) end,
             'usage', json_strip_nulls(json_build_object(
               'prompt_tokens', m.prompt_tokens, 'completion_tokens', m.completion_tokens,
               'total_tokens', m.prompt_tokens::bigint + m.completion_tokens,
               'prompt_tokens_details', case when f.counted ? 'cachedTokens'
                 then json_build_object('cached_tokens', f.counted -> 'cachedTokens') end,
               'completion_tokens_details', case when f.counted ? 'reasoningTokens'
                 then json_build_object('reasoning_tokens', f.counted -> 'reasoningTokens') end))))::text
    from messages m
    join sessions s on s.id = m.session_id
   cross join lateral (
     select case rest_state(m.finish_reason) when 'complete' then 'reply.completed' when 'cancelled' then 'reply.cancelled'
                                             when 'waiting' then 'reply.waiting' else 'reply.failed' end as type) e
   cross join lateral (select m.facts -> 'counted' as counted) f
    join webhooks w on w.enabled and e.type = any(w.events) and (w.agent_ids is null or s.agent_id = any(w.agent_ids))
   where m.id = any(p_replies)
$$;
