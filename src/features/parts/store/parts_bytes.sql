-- revision 1
/* How much the parts of a new message hold (as admit_message takes them). Strict: without parts it is not called. */
create or replace function parts_bytes(p_parts jsonb) returns bigint immutable strict language sql as $$
  select coalesce(sum((p.part ->> 'size')::bigint), 0)::bigint from jsonb_array_elements(p_parts) p(part)
$$;
