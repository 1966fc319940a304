-- revision 1
/* Folds what subjects of limits have used, and forgets what no limit looks at any more: a subject that nobody asks about
   would keep it. p_most subjects a call, since admissions wait for a subject that is being tidied; one that is being judged
   is left to the next time. Answers how many there were. */
create or replace function tidy_limits(p_most integer) returns integer language plpgsql as $$
declare
  v_subject text;
  v_count integer := 0;
begin
  insert into limit_subjects (subject)
  select distinct u.subject from limit_usage u where not u.folded on conflict do nothing;
  for v_subject in
    select s.subject from limit_subjects s
     where exists (select 1 from limit_usage u where u.subject = s.subject and not u.folded)
        or exists (select 1 from limit_requests q where q.subject = s.subject and q.at < clock_timestamp() - interval '2 minutes')
        or exists (select 1 from limit_places p where p.subject = s.subject and not holds_place(p))
        or not exists (select 1 from limit_usage u where u.subject = s.subject
                        union all select 1 from limit_requests q where q.subject = s.subject
                        union all select 1 from limit_places p where p.subject = s.subject)
     order by s.subject limit p_most for no key update skip locked
  loop
    v_count := v_count + 1;
    perform fold_limit_usage(v_subject);
    delete from limit_requests q where q.subject = v_subject and q.at < clock_timestamp() - interval '2 minutes';
    delete from limit_places p where p.subject = v_subject and not holds_place(p);
    delete from limit_subjects s
     where s.subject = v_subject
       and not exists (select 1 from limit_usage u where u.subject = v_subject
                        union all select 1 from limit_requests q where q.subject = v_subject
                        union all select 1 from limit_places p where p.subject = v_subject);
  end loop;
  delete from limit_usage u where u.folded and u.day < date_trunc('month', clock_timestamp() at time zone 'UTC') - interval '1 month';
  return v_count;
end $$;
