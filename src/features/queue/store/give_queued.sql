-- revision 1
/* Makes a reply to a queued message that has begun another instance's, with what it was asked meanwhile, unless one has begun to
   generate it. tend_queues finds it there. The caller holds the session's lock, and that instance's under this epoch. */
create or replace function give_queued(p_reply uuid, p_instance uuid, p_epoch bigint) returns void
language plpgsql as $$
begin
  perform 1 from messages m where m.id = p_reply for no key update;
  -- Locked: its instance may be taking it just now.
  perform 1 from queued_messages q where q.reply_id = p_reply and not q.taken for no key update;
  if not found then return; end if;
  update messages m set instance_id = p_instance, epoch = p_epoch where m.id = p_reply;
  update queued_messages q set instance_id = p_instance, epoch = p_epoch where q.reply_id = p_reply;
  update intents i set instance_id = p_instance where i.reply_id = p_reply;
end $$;
