-- revision 1
/* Stores a conversation of no agent that this key has made (empty: no named one), and forgets those that have waited for
   thirty days. Returns its row; none where the key has p_most. Those of one key come one after the other, until their
   transactions end. */
create or replace function add_unclaimed(p_id uuid, p_metadata jsonb, p_messages text, p_key text, p_most bigint)
returns setof unclaimed_conversations volatile language plpgsql as $$
begin
  delete from unclaimed_conversations u where u.created_at < clock_timestamp() - interval '30 days';
  perform pg_advisory_xact_lock(hashtextextended('unclaimed_conversations ' || p_key, 0));
  if (select count(*) from unclaimed_conversations u where u.key_id = p_key) >= p_most then return; end if;
  return query
    insert into unclaimed_conversations (id, metadata, messages, key_id) values (p_id, p_metadata, p_messages, p_key)
    returning *;
end $$;
