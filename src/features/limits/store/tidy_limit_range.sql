-- revision 1
/* Folds what subjects of limits have used, and forgets what no limit looks at any more: a subject that nobody asks about
   would keep it. Looks at p_most subjects behind p_after, in their order: admissions wait for a subject that is being tidied,
   so a statement must not look for its next one among all that there are. One that is being judged is left to the next time.
   Answers the last subject; null: there are no more. */
create or replace function tidy_limit_range(p_after text, p_most integer) returns text language plpgsql as $$
declare
  v_last text;
  v_subject text;
begin
  select max(x.subject) into v_last from (
    select s.subject from limit_subjects s where s.subject > p_after order by s.subject limit p_most) x;
  for v_subject in
    select s.subject from limit_subjects s
     where s.subject > p_after and s.subject <= v_last
       and (exists (select 1 from limit_usage u where u.subject = s.subject and not u.folded)
            or exists (select 1 from limit_requests q where q.subject = s.subject and q.at < clock_timestamp() - interval '2 minutes')
            or exists (select 1 from limit_places p where p.subject = s.subject and not holds_place(p))
            or not exists (select 1 from limit_usage u where u.subject = s.subject
                            union all select 1 from limit_requests q where q.subject = s.subject
                            union all select 1 from limit_places p where p.subject = s.subject))
     order by s.subject for no key update skip locked
  loop
    perform fold_limit_usage(v_subject);
    delete from limit_requests q where q.subject = v_subject and q.at < clock_timestamp() - interval '2 minutes';
    delete from limit_places p where p.subject = v_subject and not holds_place(p);
    delete from limit_subjects s
     where s.subject = v_subject
       and not exists (select 1 from limit_usage u where u.subject = v_subject
                        union all select 1 from limit_requests q where q.subject = v_subject
                        union all select 1 from limit_places p where p.subject = v_subject);
  end loop;
  return v_last;
end $$;
