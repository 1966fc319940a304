-- revision 1
/* Refuses every client secret of a user with an agent that was made until now. Answers the revocation's number; null: no
   such agent. The lock waits for sessions that such secrets are making (check_client_secret.sql): they are visible to
   whatever the caller does next, and no other one can be made. */
create or replace function revoke_user(p_agent uuid, p_user text) returns bigint language plpgsql as $$
declare
  v_number bigint;
begin
  perform 1 from agents a where a.id = p_agent for key share;
  if not found then return null; end if;
  perform pg_advisory_xact_lock(hashtextextended(p_agent || ' ' || p_user, 0));
  insert into revocations (agent_id, end_user, number) values (p_agent, p_user, nextval('client_secret_numbers'))
  on conflict (agent_id, end_user) do update
    set number = excluded.number, xact = excluded.xact, revoked_at = excluded.revoked_at
  returning number into v_number;
  return v_number;
end $$;
