-- revision 1
/* Takes back that a request was counted, for one that is refused after all. p_limits, p_agent, p_user: as judge_limits has
   taken them. p_at: when the request was stored, in the transaction that has counted it: its subjects were locked, so that of
   those counted until then it is the newest. */
create or replace function uncount_request(p_limits jsonb, p_agent uuid, p_user text, p_at timestamptz) returns void
language plpgsql as $$
declare
  r record;
  v_newest bigint;
  v_number bigint; -- of what is taken back; null: its minute is over
begin
  for r in
    select x.subject from (values
        (p_limits #>> '{key,id}', p_limits -> 'key'), (p_agent || ' ' || p_user, p_limits -> 'user'))
      as x (subject, limits)
     where x.subject is not null and x.limits ? 'requestsPerMinute' order by x.subject
  loop
    select s.requests into v_newest from limit_subjects s where s.subject = r.subject for no key update;
    select max(q.n) into v_number from limit_requests q where q.subject = r.subject and q.at <= p_at;
    continue when v_number is null;
    -- There is no gap in the numbers: each later request gets the number before its own.
    update limit_requests q set at = l.at from limit_requests l
     where q.subject = r.subject and q.n >= v_number and l.subject = q.subject and l.n = q.n + 1;
    delete from limit_requests q where q.subject = r.subject and q.n = v_newest;
    update limit_subjects s set requests = v_newest - 1 where s.subject = r.subject;
  end loop;
end $$;
