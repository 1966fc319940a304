-- revision 1
/* Returns the bytes that a session gets with these texts ({hash, bytes, content}, see keep_texts): those that it holds already
   count no more. Strict: without texts it is not called. */
create or replace function texts_bytes(p_session uuid, p_texts jsonb) returns bigint stable strict language sql as $$
  select coalesce(sum(x.bytes), 0)::bigint
    from (select distinct t.hash, t.bytes from jsonb_to_recordset(p_texts) as t(hash text, bytes integer)) x
   where not exists (select 1 from session_texts s where s.session_id = p_session and s.hash = decode(x.hash, 'hex'))
$$;
