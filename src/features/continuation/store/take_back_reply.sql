-- revision 1
/* Takes a reply back that its owner has offered, up to this number. Idempotent. False when the reply is the owner's no more:
   another instance has it, or it has ended. */
create or replace function take_back_reply(p_instance uuid, p_epoch bigint, p_reply uuid, p_number bigint) returns boolean
language plpgsql as $$
begin
  perform 1 from messages m
   where m.id = p_reply and m.status = 'streaming' and m.instance_id = p_instance and m.epoch = p_epoch for no key update;
  if not found then return false; end if;
  perform end_offers(p_reply, p_instance, p_epoch, p_number);
  return true;
end $$;
