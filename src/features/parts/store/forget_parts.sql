-- revision 3
/* Deletes those of the contents that nobody refers to. One that is locked is about to be referred to; if it is not after
   all, the cleanup job finds it. Each statement has a snapshot of its own: what was referred to before the lock is seen. */
create or replace function forget_parts(p_contents bytea[]) returns void language plpgsql as $$
declare
  v_own bytea[];
begin
  select array_agg(o.sha256) into v_own from (
    select c.sha256 from part_contents c where c.sha256 = any (p_contents) for update skip locked
  ) o;
  if v_own is null then return; end if;
  delete from part_contents c
   where c.sha256 = any (v_own)
     and not exists (select 1 from message_parts p where p.stored_as = c.sha256)
     and not exists (select 1 from message_parts p where p.sha256 = c.sha256 and p.stored_as is null)
     and not exists (select 1 from files f where f.stored_as = c.sha256)
     and not exists (select 1 from part_uploads u where u.sha256 = c.sha256);
end $$;
