-- revision 1
/* Stores texts that a session does not hold yet: [{hash (hex), bytes, content}]. The caller holds the session's lock. */
create or replace function keep_texts(p_session uuid, p_texts jsonb) returns void language sql as $$
  insert into session_texts (session_id, hash, content, bytes)
  select p_session, decode(t.hash, 'hex'), t.content, t.bytes
    from jsonb_to_recordset(p_texts) as t(hash text, bytes integer, content jsonb)
  on conflict do nothing
$$;
