-- revision 2
/* Returns whether the compaction that a session names still runs. A compaction whose instance was declared lost does
   not. */
create or replace function is_compacting(p_compaction jsonb) returns boolean stable language sql as $$
  select exists (
    select 1 from instances i
     where i.id = (p_compaction ->> 'instance_id')::uuid and i.epoch = (p_compaction ->> 'epoch')::bigint)
$$;
