-- revision 1
/* Returns the order in which the kinds of waiting calls become pending: approvals, questions and sign-ins, the caller's. */
create or replace function kind_rank(p_kind text) returns integer immutable language sql as $$
  select case p_kind when 'approval' then 1 when 'caller' then 3 else 2 end
$$;
