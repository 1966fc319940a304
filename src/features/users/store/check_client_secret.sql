-- revision 2
/* Checks a client secret in the transaction that creates a session for it. Raises GR401 if the secret is revoked, else
   keeps revoke_user.sql waiting until the session is committed. Volatile, so that it reads what was committed while it
   waited. */
create or replace function check_client_secret(p_agent uuid, p_user text, p_number bigint) returns boolean
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(p_agent || ' ' || p_user, 0));
  perform 1 from revocations r where r.agent_id = p_agent and r.end_user = p_user and r.number > p_number;
  if found then raise exception 'client secret is revoked' using errcode = 'GR401'; end if;
  return true;
end $$;
