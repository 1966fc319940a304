-- revision 1
/* Returns whether a message with decisions is one that decided a part of what was pending before: sent again under the id of
   its reply (p_reply, of its idempotency key or its own), or (p_hash, not null) as a client's own retry. */
create or replace function repeats_partial_decision(p_session uuid, p_reply uuid, p_hash bytea) returns boolean
stable language sql as $$
  select exists (select 1 from partial_decisions p where p.id = p_reply and p.session_id = p_session)
      or (p_hash is not null and exists (
            select 1 from partial_decisions p
             where p.session_id = p_session and p.hash = p_hash and p.at > clock_timestamp() - interval '10 minutes'))
$$;
