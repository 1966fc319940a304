-- revision 1
/* Locks the rows of these subjects of limits, in their order: two statements that judge several wait for each other in one
   order. Null elements are left out. */
create or replace function lock_limits(p_subjects text[]) returns void language plpgsql as $$
begin
  insert into limit_subjects (subject)
  select distinct x from unnest(p_subjects) x
   where x is not null and not exists (select 1 from limit_subjects s where s.subject = x) order by x
  on conflict do nothing;
  perform 1 from limit_subjects s where s.subject = any(p_subjects) order by s.subject for no key update;
end $$;
