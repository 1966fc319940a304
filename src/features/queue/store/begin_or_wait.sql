-- revision 2
/* begin_next for all who call it: a message that cannot begin must keep no reply from being settled, and none of another
   session from beginning. It stays in the queue, and tend_queues finds it. */
create or replace function begin_or_wait(p_instance uuid, p_epoch bigint, p_session uuid) returns uuid
language plpgsql as $$
begin
  return begin_next(p_instance, p_epoch, p_session);
exception when others then
  raise warning 'a queued message could not begin: %: %', sqlstate, sqlerrm;
  return null;
end $$;
