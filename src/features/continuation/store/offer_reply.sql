-- revision 1
/* Offers a running reply to other instances. Idempotent by its number, which rises with each offer of an instance: a call that
   arrives after the offer was taken back, refused or taken changes nothing.
   Answers offered; refused: no other instance is ready, or it may not go on, and it stays the owner's; gone: it is the
   owner's no more. */
create or replace function offer_reply(p_instance uuid, p_epoch bigint, p_reply uuid, p_reason text, p_number bigint)
returns text language plpgsql as $$
declare
  v_holds boolean;
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for key share;
  v_holds := found;
  -- Locked as it is by whoever takes the offer, takes it back or settles the reply.
  perform 1 from messages m
   where m.id = p_reply and m.status = 'streaming' and m.instance_id = p_instance and m.epoch = p_epoch for no key update;
  if not found then return 'gone'; end if;
  if exists (select 1 from ended_offers e
              where e.reply_id = p_reply and e.instance_id = p_instance and e.epoch = p_epoch and e.number >= p_number) then
    return 'refused';
  end if;
  if v_holds
     and (case when p_reason = 'boundary'
               then exists (select 1 from instances i where i.adopts and i.lost_at is null and i.id <> p_instance)
               else may_go_on(p_reply, null) end) then
    insert into handovers as h (reply_id, instance_id, epoch, reason, number)
    values (p_reply, p_instance, p_epoch, p_reason, p_number)
    on conflict (reply_id) do update
      set instance_id = excluded.instance_id, epoch = excluded.epoch, reason = excluded.reason, number = excluded.number
     where (h.instance_id, h.epoch) <> (excluded.instance_id, excluded.epoch) or coalesce(h.number, 0) <= excluded.number;
    return 'offered';
  end if;
  -- An earlier try of this call may be on its way still, while the owner goes on with the reply.
  perform end_offers(p_reply, p_instance, p_epoch, p_number);
  return 'refused';
end $$;
