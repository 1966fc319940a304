-- revision 1
/* Returns what is remembered about calls of these tools in the session of a running reply, the newest first. */
create or replace function remembered_for(p_reply uuid, p_tools text[]) returns setof remembered_decisions
stable language sql as $$
  select d.* from (
      select r.* from messages m join remembered_decisions r on r.session_id = m.session_id where m.id = p_reply
      union all
      select r.* from messages m join sessions s on s.id = m.session_id
        join remembered_decisions r on r.agent_id = s.agent_id and r.end_user = s.end_user and r.session_id is null
       where m.id = p_reply) d
   where d.tool = any(p_tools) order by d.num desc
$$;
