-- revision 4
/* Takes a running reply over that its owner gives away, or that nobody owns any more. Null when another instance was
   first, or it is to go on nowhere. The owner changes in one conditional update, so that of several instances one gets it.
   p_from, p_from_epoch, p_offer: the owner that the caller has seen, and the number of its offer (null: it has offered none).
   Idempotent: a call whose answer was lost is called again, and changes nothing where another owner or offer is there by then.
   The former owner writes nothing more: it has given the reply away when all was stored (handovers), or its epoch is over.
   What it was asked meanwhile goes along (intents), and so do the frames that its flushes still hold.
   Answers {reason (boundary, shutdown, instance_lost, database), from (the former owner), cancelled, elapsed_ms (since the admission),
   first_token_ms, attempts, turns, tools (spans in its notes), answered_id, has_parts, text, history_end (of the user's message; see
   admit_message), untitled, first_text, values, continues, decided_by, decisions, agent_id, facts, turn_rows [{n, body}]}. */
create or replace function take_over_reply(
  p_instance uuid, p_epoch bigint, p_reply uuid, p_within integer, p_from uuid, p_from_epoch bigint, p_offer bigint
) returns jsonb language plpgsql as $$
declare
  m record;
  s record;
  answered record;
  v_reason text;
  v_offer bigint; -- the number of the offer that there is
  v_newest bigint;
  v_offset bigint;
  v_chain uuid[]; -- the replies that this one continues
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for key share;
  if not found then return null; end if;
  select x.id, x.agent_id, x.title, x.title_is_draft, x.end_user, x.metadata - x.uncounted as metadata, x.parent into s
    from sessions x join messages y on y.session_id = x.id where y.id = p_reply for no key update of x skip locked;
  if not found then return null; end if;
  -- Locked before its offer is removed, in the order of who offers it.
  select x.* into m from messages x where x.id = p_reply and x.status = 'streaming' for no key update;
  if not found then return null; end if;

  select h.reason, h.number into v_reason, v_offer from handovers h
   where h.reply_id = p_reply and h.instance_id = m.instance_id and h.epoch = m.epoch;
  if v_reason is null and m.instance_id = p_instance and m.epoch = p_epoch then
    -- An earlier call has taken it, and its answer was lost.
    v_reason := coalesce(m.facts ->> 'handedOver', 'boundary');
  elsif (m.instance_id, m.epoch, v_offer) is distinct from (p_from, p_from_epoch, p_offer) then
    return null;
  else
    if v_reason is null and exists (select 1 from instances i where i.id = m.instance_id and i.epoch = m.epoch) then
      return null;
    end if;
    v_reason := coalesce(v_reason, 'instance_lost');
    if v_reason <> 'boundary' and not may_go_on(p_reply, p_within) then return null; end if;
    if v_reason <> 'instance_lost' then
      delete from handovers h where h.reply_id = p_reply and h.instance_id = m.instance_id and h.epoch = m.epoch;
      if not found then return null; end if; -- taken back, by a version that locks no message
      perform end_offers(p_reply, m.instance_id, m.epoch, coalesce(v_offer, 0));
    end if;

    insert into frame_runs (session_num, seq, part, seqs, parts, texts, at)
    select m.session_num, (array_agg(f.seq order by f.seq, f.part))[1], (array_agg(f.part order by f.seq, f.part))[1],
           array_agg(f.seq order by f.seq, f.part), array_agg(f.part order by f.seq, f.part),
           array_agg(f.text order by f.seq, f.part), max(f.at)
      from (select u.seq, u.part, u.text, l.at
              from flushes l cross join unnest(l.session_nums, l.seqs, l.parts, l.texts) as u (session_num, seq, part, text)
             where l.instance_id = m.instance_id and l.epoch = m.epoch and m.session_num = any(l.session_nums)
               and u.session_num = m.session_num and u.seq >= m.first_seq) f
    having count(*) > 0
    on conflict (session_num, seq, part) do update
      set at = greatest(frame_runs.at, excluded.at), (seqs, parts, texts) = (
        select array_agg(u.seq order by u.seq, u.part), array_agg(u.part order by u.seq, u.part),
               array_agg(u.text order by u.seq, u.part)
          from unnest(frame_runs.seqs || excluded.seqs, frame_runs.parts || excluded.parts,
                      frame_runs.texts || excluded.texts) as u (seq, part, text));
    select coalesce(max(f.seq), m.first_seq), coalesce(sum(char_length(f.text)) filter (where f.part = 0), 0)
      into v_newest, v_offset from running_frames(p_reply, 0, 0) f;

    m.facts := coalesce(m.facts, '{}') || jsonb_build_object('handedOver', v_reason);
    if v_reason <> 'boundary' then
      m.facts := m.facts || jsonb_build_object('continuations',
        coalesce(m.facts -> 'continuations', '[]') || jsonb_build_array(jsonb_build_object(
          'frame_id', v_newest, 'offset', v_offset, 'reason', v_reason,
          'at', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))));
    end if;
    -- Its client may be gone: what it sends again must find this reply.
    update messages x
       set instance_id = p_instance, epoch = p_epoch, facts = m.facts, requester_lost = true
     where x.id = p_reply and x.status = 'streaming' and x.instance_id = m.instance_id and x.epoch = m.epoch;
    update intents i set instance_id = p_instance where i.reply_id = p_reply;
  end if;

  if m.continues is not null then
    with recursive chain as (
      select m.continues as id
      union all
      select b.continues from chain c join messages b on b.id = c.id where b.continues is not null
    )
    select array_agg(c.id) into v_chain from chain c;
  end if;
  select a.id, a.content, coalesce(a.parent, a.position - 1) as before_at into answered
    from messages a where a.session_id = s.id and a.position = coalesce(m.parent, m.position - 1);
  return jsonb_build_object(
    'reason', v_reason, 'from', m.instance_id, 'agent_id', s.agent_id, 'facts', m.facts,
    'cancelled', exists (select 1 from intents i where i.reply_id = p_reply and i.kind = 'cancel'),
    'elapsed_ms', greatest(0, extract(epoch from clock_timestamp() - m.created_at) * 1000)::float8,
    'answered_id', answered.id,
    'has_parts', exists (select 1 from message_parts p where p.message_id = answered.id), 'text', answered.content, 'history_end', answered.before_at,
    'untitled', s.title is null or s.title_is_draft,
    'first_text', case when s.title is null or s.title_is_draft then (
      select left(x.content, 10000) from messages x
       where x.session_id = s.id and x.role = 'user' order by x.position limit 1) end,
    -- One that was told none, as its agent was then, is told what holds now.
    'values', coalesce(m.facts -> 'values', jsonb_build_object('user', s.end_user, 'metadata', s.metadata)),
    'is_child', s.parent is not null,
    'continues', m.continues,
    'decisions', decisions_for(p_reply),
    'decided_by', (select max(c.decided_by) from waiting_calls c
                    where c.reply_id = any(v_chain) and c.decided_in = p_reply),
    'turn_rows', (select jsonb_agg(jsonb_build_object('n', t.n, 'body', t.body) order by t.n)
                    from reply_turns t where t.reply_id = p_reply))
    || (select jsonb_build_object(
                 'first_token_ms', min((t.detail ->> 'firstTokenMs')::integer),
                 'attempts', count(distinct t.detail ->> 'span') filter (where t.event = 'attempt'),
                 'turns', count(distinct t.detail ->> 'span') filter (where t.event = 'model'),
                 'tools', count(distinct t.detail ->> 'span') filter (where t.event = 'tool'))
          from steps t where t.session_id = s.id and t.message_id = p_reply and t.kind = 'note');
end $$;
