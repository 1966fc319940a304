-- revision 1
/* Remembers those of these decisions that say so, in place of older ones of the same reach. The caller holds the session's lock.
   Raises GR422 beyond 200 of a session, or of a user with an agent. p_decisions: see decide_pending; remember: {id, scope, tool,
   record_id, name, arguments, reach (hex), by_secret}. */
create or replace function remember_decisions(p_session uuid, p_decisions jsonb, p_by text) returns void language plpgsql as $$
declare
  s record;
  d record;
begin
  select x.agent_id, x.end_user into s from sessions x where x.id = p_session;
  for d in
    select r.*, x.decision, x.reason
      from jsonb_to_recordset(p_decisions) as x(decision text, reason text, remember jsonb)
     cross join lateral jsonb_to_record(x.remember) as r(
       id uuid, scope text, tool text, record_id uuid, name text, arguments text, reach text, by_secret boolean)
     where x.remember is not null
  loop
    if d.scope = 'user' then -- the others of the user's sessions wait
      perform pg_advisory_xact_lock(hashtextextended('remembered ' || s.agent_id || ' ' || s.end_user, 0));
      delete from remembered_decisions r
       where r.agent_id = s.agent_id and r.end_user = s.end_user and r.session_id is null and r.reach = decode(d.reach, 'hex');
    else
      delete from remembered_decisions r where r.session_id = p_session and r.reach = decode(d.reach, 'hex');
    end if;
    insert into remembered_decisions (id, agent_id, session_id, end_user, tool, record_id, name, decision, arguments, reach, reason,
                                      by_secret, decided_by)
    values (d.id, s.agent_id, case when d.scope = 'session' then p_session end, case when d.scope = 'user' then s.end_user end,
            d.tool, d.record_id, d.name, d.decision, d.arguments, decode(d.reach, 'hex'), d.reason, d.by_secret, p_by);
    if 200 < (select count(*) from remembered_decisions r
               where case when d.scope = 'user' then r.agent_id = s.agent_id and r.end_user = s.end_user and r.session_id is null
                          else r.session_id = p_session end) then
      raise exception 'too many decisions are remembered' using errcode = 'GR422';
    end if;
  end loop;
end $$;
