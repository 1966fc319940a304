-- revision 2
/* Returns whether a reply without an owner may continue on another instance: its agent allows it, the state it needs is
   stored, its newest frame is no older than p_within (seconds; null: any), and it is not the cause of its instances'
   ends. */
create or replace function may_go_on(p_reply uuid, p_within integer) returns boolean stable language plpgsql as $$
declare
  m record;
  v_losses jsonb;
  v_newest bigint;
  v_at timestamptz;
begin
  select x.id, x.session_num, x.first_seq, x.instance_id, x.epoch, x.created_at, x.facts into m
    from messages x join sessions s on s.id = x.session_id join agents a on a.id = s.agent_id
   where x.id = p_reply and x.status = 'streaming' and a.on_loss = 'continue'
     and (x.facts ? 'start' or exists (select 1 from reply_turns t where t.reply_id = x.id and t.n > 0))
     -- One to a queued message that no instance has begun to generate is not lost: see lose_replies.
     and not exists (select 1 from queued_messages q where q.reply_id = x.id and not q.taken);
  if not found then return false; end if;

  -- The owner's newest flush may be another reply's: that makes it no older than it is.
  v_at := greatest(
    m.created_at,
    (select max(r.at) from frame_runs r where r.session_num = m.session_num and r.seqs[cardinality(r.seqs)] >= m.first_seq),
    (select l.at from flushes l where l.instance_id = m.instance_id and l.epoch = m.epoch order by l.num desc limit 1));
  if v_at < clock_timestamp() - make_interval(secs => p_within) then return false; end if;

  v_losses := jsonb_path_query_array(coalesce(m.facts -> 'continuations', '[]'), '$[*] ? (@.reason == "instance_lost")');
  if jsonb_array_length(v_losses) < 2 then return true; end if;
  select coalesce(max(f.seq), m.first_seq) into v_newest from running_frames(p_reply, 0, 0) f;
  return jsonb_array_length(v_losses) < 9
     and (select count(*) from jsonb_array_elements(v_losses) e where (e ->> 'frame_id')::bigint = v_newest) < 2;
end $$;
