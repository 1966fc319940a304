-- revision 1
/* Ends the offers of a reply by an instance, up to this number: one that arrives later offers nothing. Idempotent. The caller
   holds the lock of the message. */
create or replace function end_offers(p_reply uuid, p_instance uuid, p_epoch bigint, p_number bigint) returns void
language sql as $$
  delete from handovers h
   where h.reply_id = p_reply and h.instance_id = p_instance and h.epoch = p_epoch and coalesce(h.number, 0) <= p_number;
  insert into ended_offers as e (reply_id, instance_id, epoch, number) values (p_reply, p_instance, p_epoch, p_number)
  on conflict (reply_id, instance_id, epoch) do update set number = greatest(e.number, excluded.number);
$$;
