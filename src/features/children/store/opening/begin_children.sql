-- revision 8
/* Begins children on this instance, in the order of their calls: of this reply, or (null) of all. Eight of a reply run at a
   time, and on an instance p_most that do not themselves wait for children. Of all only those whose parents run on this
   instance, and those that the instance of their parent has left for two seconds. Returns the ids of the replies that it
   began. Calls on an instance take turns (Host.inTurn): the next one counts what this one begins. */
create or replace function begin_children(p_instance uuid, p_epoch bigint, p_reply uuid, p_most integer) returns setof uuid
language plpgsql as $$
declare
  v_room integer;
  v_begun uuid;
  v_full uuid[] := '{}'; -- replies of which eight run: what becomes free meanwhile is for the first that waits
  c record;
begin
  perform 1 from children x where not x.over and (p_reply is null or x.parent_reply = p_reply);
  if not found then return; end if;
  -- Asked once: were messages to begin here in the middle of the loop, later calls would go before the first ones.
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch and i.begins_queued for key share;
  if not found then return; end if;
  select p_most - count(*) into v_room
    from children x join messages m on m.session_id = x.session_id and m.status = 'streaming'
   where not x.over and m.instance_id = p_instance and m.epoch = p_epoch
     and not exists (select from children d where d.parent_session = x.session_id and not d.over);
  for c in
    select x.session_id, x.parent_session, x.parent_reply from children x
      join queued_messages q on q.session_id = x.session_id and q.rank = 3 and q.admission is null
     where not x.over
       and (x.parent_reply = p_reply
            or p_reply is null and (q.created_at < clock_timestamp() - interval '2 seconds'
                                    or exists (select from messages m where m.id = x.parent_reply and m.status = 'streaming'
                                                 and m.instance_id = p_instance and m.epoch = p_epoch)))
     order by x.num
  loop
    exit when v_room <= 0;
    continue when c.parent_reply = any(v_full);
    -- Two instances that begin children of one reply do so one after the other.
    perform pg_advisory_xact_lock(hashtextextended('begin_children ' || c.parent_reply, 0));
    if 8 <= (
      select count(*) from children x join sessions s on s.id = x.session_id and s.status = 'streaming'
       where x.parent_reply = c.parent_reply and not x.over)
    then
      v_full := v_full || c.parent_reply;
      continue;
    end if;
    continue when not may_go_on_with_children(c.parent_session, c.parent_reply);
    perform 1 from sessions s where s.id = c.session_id and s.status <> 'streaming' for no key update skip locked;
    continue when not found;
    v_begun := begin_or_wait(p_instance, p_epoch, c.session_id);
    continue when v_begun is null;
    v_room := v_room - 1;
    return next v_begun;
  end loop;
end $$;
