-- revision 1
/* Stores how many lists a subject follows on an instance. p_number rises with each call of the instance: one that is carried out
   behind a later one changes nothing. p_most: how many it may follow on all; null: it follows no more than before, and is not
   judged. p_keeps: an earlier call may be carried out yet, so that the number stays. Returns whether it may follow so many;
   where it may not, nothing is changed. */
create or replace function follow_lists(
  p_instance uuid, p_epoch bigint, p_number bigint, p_subject text, p_lists integer, p_most integer, p_keeps boolean
) returns boolean language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('lists ' || p_subject, 0));
  delete from followed_lists f
   where f.subject = p_subject
     and not exists (select from instances i where i.id = f.instance_id and i.epoch = f.epoch);
  if exists (select from followed_lists f
              where f.subject = p_subject and f.instance_id = p_instance and f.epoch = p_epoch and f.number > p_number) then
    return false;
  end if;
  if p_lists + (select coalesce(sum(f.lists), 0) from followed_lists f
                 where f.subject = p_subject and f.instance_id <> p_instance) > p_most then
    return false;
  end if;
  if p_lists = 0 and not p_keeps then
    delete from followed_lists f where f.subject = p_subject and f.instance_id = p_instance;
  else
    insert into followed_lists (subject, instance_id, epoch, number, lists)
    values (p_subject, p_instance, p_epoch, p_number, p_lists)
    on conflict (subject, instance_id) do update
      set epoch = excluded.epoch, number = excluded.number, lists = excluded.lists;
  end if;
  return true;
end $$;
