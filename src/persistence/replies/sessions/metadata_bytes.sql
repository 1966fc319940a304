-- revision 1
/* Returns the bytes that a session's metadata counts among the session's. */
create or replace function metadata_bytes(p_metadata jsonb) returns integer immutable language sql as $$
  select case when p_metadata = '{}' then 0 else octet_length(p_metadata::text) end
$$;
