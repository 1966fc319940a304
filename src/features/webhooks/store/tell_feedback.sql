-- revision 1
/* Records for each webhook that wants it that somebody has given feedback on a reply. To be called in the statement that
   stores it. The comment is not sent. */
create or replace function tell_feedback(p_message uuid, p_by text, p_score integer) returns void language sql as $$
  insert into webhook_deliveries (webhook_id, owner, type, session_id, message_id, body)
  select w.id, delivery_owner(s.agent_id, s.end_user), 'feedback.created', s.id, m.id,
         json_build_object(
           'type', 'feedback.created',
           'timestamp', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'data', json_build_object(
             'agent_id', s.agent_id, 'session_id', s.id, 'message_id', m.id, 'user', s.end_user, 'metadata', s.metadata,
             'by', p_by, 'score', p_score, 'agent_version', m.facts -> 'agentVersion'))::text
    from messages m
    join sessions s on s.id = m.session_id
    join webhooks w on w.enabled and 'feedback.created' = any(w.events)
                   and (w.agent_ids is null or s.agent_id = any(w.agent_ids))
   where m.id = p_message
$$;
