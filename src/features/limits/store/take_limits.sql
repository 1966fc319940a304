-- revision 1
/* Judges the limits of stateless requests, and counts those that pass; see judge_limits. An instance sends what came while
   its last statement was under way in one, so that a caller of many requests holds one connection.
   p_requests: [{reply, agent, user, limits, look (true: it counts nothing yet)}]. Answers what judge_limits answers of each,
   in their order; null: this instance was declared lost. */
create or replace function take_limits(p_instance uuid, p_epoch bigint, p_requests jsonb) returns jsonb
language plpgsql as $$
declare
  r record;
  v_answers jsonb := '[]';
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for key share;
  if not found then return null; end if;
  perform lock_limits((
    select array_agg(x.subject) from jsonb_to_recordset(p_requests) as q(agent uuid, "user" text, limits jsonb)
     cross join lateral (values (q.limits #>> '{key,id}'),
                                (case when q.limits ? 'user' then q.agent || ' ' || q."user" end)) as x (subject)));
  for r in
    select * from rows from (jsonb_to_recordset(p_requests) as (reply uuid, agent uuid, "user" text, limits jsonb, look boolean))
                  with ordinality as q (reply, agent, end_user, limits, look, n) order by q.n
  loop
    v_answers := v_answers || jsonb_build_array(judge_limits(
      r.limits, r.agent, r.end_user, r.reply, case when r.look then 'look' else 'take' end, null, p_instance, p_epoch));
  end loop;
  return v_answers;
end $$;
