-- revision 3
/* Records for each webhook that wants it that these sessions are deleted, but for those that never had a message. To be called while they are still there, in the
   statement that deletes them. Whose they were goes with them: all that follows the session's id is null. */
create or replace function tell_deleted(p_sessions uuid[]) returns void language sql as $$
  insert into webhook_deliveries (webhook_id, owner, type, session_id, body)
  select w.id, delivery_owner(s.agent_id, s.end_user), 'session.deleted', s.id,
         json_build_object(
           'type', 'session.deleted',
           'timestamp', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'data', json_build_object(
             'agent_id', s.agent_id, 'session_id', s.id, 'message_id', null, 'user', null, 'metadata', null, 'status', null,
             'finish_reason', null, 'error', null, 'usage', null))::text
    from sessions s
    join webhooks w on w.enabled and 'session.deleted' = any(w.events)
                   and (w.agent_ids is null or s.agent_id = any(w.agent_ids))
   where s.id = any(p_sessions) and (s.next_seq > 1 or exists (select from messages m where m.session_id = s.id))
$$;
