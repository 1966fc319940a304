-- revision 8
/* Decides whether a message may begin its reply now. m: see message_fields. s: see lock_session. Changes nothing and counts
   nothing.
   refusal: the answer of a message that may neither begin nor wait, or null. queue_rank: the rank (queued_messages.rank) of a
   message that is to wait in the queue; null: it begins now. bytes: what the session holds before the message. */
create or replace function judge_message(m record, s record, out refusal jsonb, out queue_rank integer, out bytes bigint)
language plpgsql as $$
declare
  v_rank integer; -- among what waits in the queue, as queued_messages.rank; 3: it does not wait
  v_first_rank integer; -- of what is next in the queue; null: nothing is
  v_waits boolean; -- a reply runs, or something goes before the message
  v_queues boolean; -- the message waits for that in the queue
begin
  if s.parent is not null and m.is_queued is not true and m.decisions is null then
    refusal := parent_refuses(m.session_id);
    if refusal is not null then return; end if;
  end if;
  v_waits := s.last_status = 'streaming';
  if s.compaction is not null then v_waits := v_waits is true or is_compacting(s.compaction); end if;
  if m.is_queued is not true and m.decisions is null and (s.queued > 0 or m.on_busy is not null) then
    v_rank := case m.on_busy when 'interrupt' then 0 when 'steer' then 1 when 'enqueue' then 2 else 3 end;
    if s.queued > 0 then
      select min(q.rank) into v_first_rank from queued_messages q where q.session_id = m.session_id and q.admission is null;
    end if;
    -- A message goes before the queue that waits with the session's calls, unless it is to wait in it.
    v_waits := coalesce(v_waits, false) or case when s.status = 'waiting' then v_rank = 2 or v_first_rank <= least(v_rank, 1)
                                 else coalesce(v_first_rank <= v_rank, false) end;
    -- One that interrupts under a limit of concurrent replies begins in the transaction that ends the reply before it: between
    -- both, another request could take the place that has become free.
    v_queues := v_waits and m.may_queue
                and (v_rank in (1, 2)
                     or (v_rank = 0 and (s.queued > 0 or coalesce(m.limits @? '$.*.concurrentReplies', false))));
  end if;

  if m.limits is not null
     and (v_waits is not true and not m.may_start or v_waits and v_rank <= case when m.may_start then 0 else 2 end) then
    -- Only a look: pictures are fetched first, or the running reply is ended first, which must not be for nothing. A message
    -- that is only busy is told so, whatever its limits. One that is to wait takes no place until it begins.
    refusal := judge_limits(
      case when v_waits and v_rank > 0 then m.limits #- '{key,concurrentReplies}' #- '{user,concurrentReplies}' else m.limits end,
      m.agent_id, s.end_user, m.reply_id, 'look', case when s.last_status = 'streaming' then s.last_id end, null, null);
    if refusal ? 'over' then
      refusal := refusal || '{"outcome": "limited"}';
      return;
    end if;
    refusal := null;
  end if;
  if v_queues is not true then
    if v_waits then
      refusal := '{"outcome": "busy"}';
      return;
    elsif not m.may_start then
      refusal := '{"outcome": "refused"}';
      return;
    end if;
  end if;
  -- The agent may have changed since the request was made.
  if m.configuration <> (select c.version from configuration c) then
    refusal := '{"outcome": "stale"}';
    return;
  end if;
  if m.pin <> coalesce(s.agent_version, 0) then
    refusal := jsonb_build_object('outcome', 'pinned', 'pin', s.agent_version);
    return;
  end if;

  bytes := s.bytes;
  if m.decisions is null or m.parts is not null then -- decisions end what has begun: without parts they need no room
    if bytes is null then bytes := session_bytes(m.session_id); end if;
    if bytes + m.added > m.max_session_bytes then
      refusal := '{"outcome": "session_full"}';
      return;
    end if;
    if m.max_user_bytes is not null then
      if message_full(m.agent_id, s.end_user, m.added, m.max_user_bytes, m.parts) then
        refusal := '{"outcome": "user_full"}';
        return;
      end if;
    end if;
  end if;
  if v_queues then
    queue_rank := v_rank;
    -- A message that interrupts waits only for a moment, and is none of the twenty.
    if v_rank > 0 and 20 <= (
      select count(*) from queued_messages q where q.session_id = m.session_id and q.admission is null and q.rank > 0)
    then
      refusal := '{"outcome": "queue_full"}';
    end if;
  end if;
end $$;
