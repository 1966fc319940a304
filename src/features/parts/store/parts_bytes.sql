-- revision 2
/* Returns the bytes of a new message's parts (as admit_message takes them). Strict: without parts it is not called. */
create or replace function parts_bytes(p_parts jsonb) returns bigint immutable strict language sql as $$
  select coalesce(sum((p.part ->> 'size')::bigint), 0)::bigint from jsonb_array_elements(p_parts) p(part)
$$;
