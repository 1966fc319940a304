-- revision 7
/* Maintains the queues for an instance, once a second. Stores whether messages begin on it. Begins messages of sessions
   in which nothing runs (their replies' instance was draining, or there was none), at most p_limit; those of rank 3 are begin_children's. Forgets ended
   messages. Returns the ids of replies that have begun here and are not taken. If messages do not begin here (any
   more), replies that have begun and are not taken move to another instance, as long as there is one: a settlement that
   was under way has begun them. */
create or replace function tend_queues(p_instance uuid, p_epoch bigint, p_begins boolean, p_limit integer)
returns setof uuid language plpgsql as $$
declare
  v_session uuid;
  v_begun integer := 0;
  v_reply uuid;
  v_other uuid;
  v_epoch bigint; -- of v_other
begin
  update instances i set begins_queued = p_begins
   where i.id = p_instance and i.epoch = p_epoch and i.begins_queued is distinct from p_begins;
  -- Few sessions have a queue.
  delete from queued_messages q
   where q.admission is not null
     and not exists (select 1 from messages m where m.id = q.reply_id and m.status = 'streaming');
  if p_begins then
    for v_session in
      select s.id
        from (select q.session_id, min(q.rank) as rank from queued_messages q where q.admission is null and q.rank < 3 group by 1) q
       cross join lateral (
         select x.id from sessions x
          where x.id = q.session_id and x.status <> 'streaming' and (q.rank < 2 or x.status <> 'waiting')
            for no key update skip locked) s
    loop
      exit when v_begun >= p_limit;
      -- One that cannot begin takes no other one's place.
      if begin_or_wait(p_instance, p_epoch, v_session) is not null then v_begun := v_begun + 1; end if;
    end loop;
    return query select q.reply_id from queued_messages q
                  where q.instance_id = p_instance and q.epoch = p_epoch and q.admission is not null and not q.taken;
  else
    perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for key share;
    if not found then return; end if;
    select i.id, i.epoch into v_other, v_epoch from instances i
     where i.id <> p_instance and i.begins_queued and i.lost_at is null
     order by random() limit 1 for key share skip locked;
    if not found then return; end if;
    for v_reply in
      select q.reply_id
        from queued_messages q
       cross join lateral (select x.id from sessions x where x.id = q.session_id for no key update skip locked) s
       where q.instance_id = p_instance and q.epoch = p_epoch and q.admission is not null and not q.taken
    loop
      perform give_queued(v_reply, v_other, v_epoch);
    end loop;
  end if;
end $$;
