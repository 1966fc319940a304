-- revision 1
/* Returns what the answer of an admission says of the session's parent. Older versions know it as is_child. */
create or replace function parent_in_answer(p_parent jsonb) returns jsonb immutable language sql as $$
  select case when p_parent is null then '{}'::jsonb else '{"has_parent": true, "is_child": true}' end
$$;
