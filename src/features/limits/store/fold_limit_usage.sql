-- revision 1
/* Makes one row of all that a subject of limits has used in a day. The caller holds the subject's row, so that two never
   fold the same. Rows that settlements add meanwhile are left to the next time. */
create or replace function fold_limit_usage(p_subject text) returns void language plpgsql as $$
begin
  with old as (
    delete from limit_usage u where u.subject = p_subject returning u.day, u.tokens, u.cost
  )
  insert into limit_usage (subject, day, tokens, cost, folded)
  select p_subject, o.day, sum(o.tokens), sum(o.cost), true from old o
   where o.day >= date_trunc('month', clock_timestamp() at time zone 'UTC') - interval '1 month' group by o.day;
end $$;
