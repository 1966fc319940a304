-- revision 6
/* Returns the bytes of a session: its metadata, its messages with their parts, also queued ones, what their requests brought
   besides (session_texts), its summaries, and comments on its replies. sessions.bytes holds this figure once it is counted. */
create or replace function session_bytes(p_session uuid) returns bigint stable language sql as $$
  select coalesce((select sum(octet_length(m.content)::bigint + coalesce(octet_length(m.reasoning), 0)
                              + coalesce(octet_length(m.tool_events::text), 0))
                     from messages m where m.session_id = p_session), 0)
       + coalesce((select sum(octet_length(q.content)) from queued_messages q
                    where q.session_id = p_session and q.admission is null), 0)
       + coalesce((select sum(octet_length(c.summary)) from checkpoints c where c.session_id = p_session), 0)
       + coalesce((select sum(octet_length(f.comment)) from feedback f where f.session_id = p_session), 0)
       + coalesce((select metadata_bytes(s.metadata) from sessions s where s.id = p_session), 0)
       + coalesce((select sum(t.bytes) from session_texts t where t.session_id = p_session), 0)
       + coalesce((select sum(p.size) from message_parts p where p.session_id = p_session), 0)
$$;
