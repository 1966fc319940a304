-- revision 1
/* Cancels what a session that waits (p_wait: the reply that ended to wait) has to do with others: a child that waits ends, and
   its call is told so; those of p_running that still run below it are asked to end. One that arrives late finds another wait or
   other replies, and does nothing. Returns the replies that are to end, with the instances that run them. */
create or replace function cancel_wait(p_session uuid, p_wait uuid, p_running uuid[])
returns table (reply_id uuid, instance_id uuid) language plpgsql as $$
declare
  v_below uuid[];
begin
  perform 1 from sessions s join waits w on w.session_id = s.id and w.reply_id = p_wait
    where s.id = p_session and s.status = 'waiting';
  if not found then return; end if;
  v_below := sessions_below(array[p_session]);
  if answers_call(p_session) then
    if drop_waiting(p_session, null) then perform follow_above(p_session, null, null); end if;
  end if;
  if v_below = '{}' then return; end if;
  return query
    with running as materialized (
      select m.id, m.session_id, m.instance_id from messages m
        join children c on c.session_id = m.session_id and not c.over
       where m.session_id = any(v_below) and m.status = 'streaming' and m.id = any(p_running) for share of m
    ), told as (
      insert into intents (instance_id, kind, session_id, reply_id)
      select r.instance_id, 'cancel', r.session_id, r.id from running r
       where not exists (select from intents i where i.reply_id = r.id and i.kind = 'cancel')
    )
    select r.id, r.instance_id from running r;
end $$;
