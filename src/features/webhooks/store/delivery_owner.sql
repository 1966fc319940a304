-- revision 1
/* Returns whose event a delivery tells of: the hash of agent and user. */
create or replace function delivery_owner(p_agent uuid, p_user text) returns bytea immutable language sql as $$
  select sha256(convert_to(p_agent || ' ' || coalesce(p_user, ''), 'UTF8'))
$$;
