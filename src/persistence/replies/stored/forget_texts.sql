-- revision 1
/* Deletes the texts of a session that none of its messages names any more, queued ones included. The caller holds the session's
   lock. */
create or replace function forget_texts(p_session uuid) returns void language sql as $$
  delete from session_texts t
   where t.session_id = p_session
     and not exists (select 1 from messages m, jsonb_each_text(m.facts -> 'kept') k
                      where m.session_id = p_session and k.value = encode(t.hash, 'hex'))
     and not exists (select 1 from queued_messages q, jsonb_each_text(q.message #> '{facts,kept}') k
                      where q.session_id = p_session and k.value = encode(t.hash, 'hex'))
$$;
