-- revision 2
/* Returns how many more sessions this user may have with this agent, those that another one made not counted (contract section 35). Null without a user or a limit:
   any number. Near the limit those who make sessions for one user come one after the other, until their transactions
   end. Volatile: what was committed while it waited is counted. */
create or replace function free_sessions(p_agent uuid, p_user text, p_most bigint) returns bigint
volatile language plpgsql as $$
declare
  v_near constant integer := 1000; -- more than all instances make for one user in the time of a statement
  v_count bigint;
begin
  if p_user is null or p_most is null then return null; end if;
  select count(*) into v_count from sessions s
   where s.agent_id = p_agent and s.end_user = p_user and s.parent is null;
  if v_count < p_most - v_near then return p_most - v_count; end if;
  perform pg_advisory_xact_lock(hashtextextended('user_sessions ' || p_agent || ' ' || p_user, 0));
  select count(*) into v_count from sessions s
   where s.agent_id = p_agent and s.end_user = p_user and s.parent is null;
  return p_most - v_count;
end $$;
