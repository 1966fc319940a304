-- revision 2
/* Returns the highest change number allocated, and the transactions that may still commit a lower one: those that hold
   the lock of a statement that writes sessions. The number is read first, because a transaction that takes one later
   takes a higher one. Once the named transactions are over, everything up to the number is visible or never will be. */
create or replace function session_horizon() returns table (given bigint, writers text[])
language plpgsql as $$
begin
  given := coalesce(pg_sequence_last_value('session_changes'::regclass), 0);
  writers := array(
    select l.virtualtransaction from pg_locks l
     where l.locktype = 'relation' and l.relation = 'sessions'::regclass and l.mode = 'RowExclusiveLock' and l.granted
       and l.database = (select d.oid from pg_database d where d.datname = current_database())
       and l.pid is distinct from pg_backend_pid());
  return next;
end $$;
