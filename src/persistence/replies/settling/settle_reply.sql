-- revision 7
/* Folds a reply for its owner (fold_reply). Answers {outcome, settled_at, next}; outcome: settled, gone, or fenced when this instance
   was declared lost meanwhile, or another one has taken the reply over; next: the reply to the queued message that begins
   with this (begin_next). The owner has all that it stored in memory and says it here: reading and aggregating a
   hundred frames was a third of a settlement. */
create or replace function settle_reply(
  p_instance uuid, p_epoch bigint, p_reply uuid, p_outcome jsonb, p_content text, p_ends integer[], p_events jsonb
) returns jsonb language plpgsql as $$
declare
  v_session constant uuid := (select m.session_id from messages m where m.id = p_reply);
  v_outcome text;
  r record;
  v_next uuid;
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for key share;
  if not found then return '{"outcome": "fenced"}'; end if;
  perform 1 from sessions s where s.id = v_session for no key update;
  perform 1 from messages m
   where m.id = p_reply and m.status not in ('complete', 'error') -- not by an index of all that run
     and (m.instance_id <> p_instance or m.epoch <> p_epoch);
  if found then return '{"outcome": "fenced"}'; end if;
  v_outcome := fold_reply(p_reply, p_outcome, p_content, p_ends, p_events);
  select (select m.settled_at from messages m where m.id = p_reply) as settled_at, s.queued into r
    from sessions s where s.id = v_session;
  if v_outcome = 'settled' and r.queued > 0 then v_next := begin_or_wait(p_instance, p_epoch, v_session); end if;
  return jsonb_build_object('outcome', v_outcome, 'settled_at', r.settled_at, 'next', v_next);
end $$;
