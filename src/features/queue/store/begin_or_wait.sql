-- revision 3
/* Calls begin_next, and leaves a message that cannot begin in the queue, where tend_queues finds it. Such a message
   must keep no reply from being settled, and no message of another session from beginning. */
create or replace function begin_or_wait(p_instance uuid, p_epoch bigint, p_session uuid) returns uuid
language plpgsql as $$
begin
  return begin_next(p_instance, p_epoch, p_session);
exception when others then
  raise warning 'a queued message could not begin: %: %', sqlstate, sqlerrm;
  return null;
end $$;
