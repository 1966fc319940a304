-- revision 1
/* Returns whether the sessions and files of an agent's user would hold more than p_most bytes with p_added more. False without
   a user or a limit. Those who ask for one user come one after the other, until their transactions end: many at once would
   pass together. They have locked their session before. Null where another one is asking, and p_waits is false. Volatile: what
   was committed while it waited is counted. */
create or replace function user_full(p_agent uuid, p_user text, p_added bigint, p_most bigint, p_waits boolean)
returns boolean volatile language plpgsql as $$
declare
  v_lock bigint;
begin
  if p_user is null or p_most is null then return false; end if;
  v_lock := hashtextextended('user_bytes' || p_agent || p_user, 0); -- as in fork_session
  if p_waits then
    perform pg_advisory_xact_lock(v_lock);
  elsif not pg_try_advisory_xact_lock(v_lock) then
    return null;
  end if;
  return user_bytes(p_agent, p_user) + p_added > p_most;
end $$;
