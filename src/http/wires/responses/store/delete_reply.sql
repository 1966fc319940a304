-- revision 7
/* Removes a reply, and the user's message that it answers unless another reply answers it too. The head moves back to the
   message before them. Summaries that end with them go: a later message may get their positions.
   Answers deleted, not_found, busy (it runs, or a compaction of the session does) or followed (other messages come behind
   it). */
create or replace function delete_reply(p_session uuid, p_reply uuid) returns text language plpgsql as $$
declare
  s record;
  r record;
  q record;
  last record;
  v_ids uuid[];
  v_back integer; -- position that the head moves back to; -1: there is none before them
  v_contents bytea[];
begin
  select x.head, x.compaction into s from sessions x where x.id = p_session for update;
  if not found then return 'not_found'; end if;
  select m.id, m.position, m.status, coalesce(m.parent, m.position - 1) as before, m.continues into r from messages m
   where m.id = p_reply and m.session_id = p_session and m.role = 'assistant' and m.first_seq is not null;
  if not found then return 'not_found'; end if;
  if r.status = 'streaming' then return 'busy'; end if;
  if s.compaction is not null then
    if is_compacting(s.compaction) then return 'busy'; end if;
  end if;
  perform 1 from messages m
    where m.session_id = p_session and m.position > r.position and coalesce(m.parent, m.position - 1) = r.position;
  if found then return 'followed'; end if;

  v_ids := array[r.id];
  v_back := r.before;
  if r.continues is null then
    select m.id, coalesce(m.parent, m.position - 1) as before into q from messages m
     where m.session_id = p_session and m.position = r.before and m.role = 'user'
       and not exists (select 1 from messages o
                        where o.session_id = p_session and o.position > m.position and o.id <> r.id
                          and coalesce(o.parent, o.position - 1) = m.position);
    if found then
      v_ids := v_ids || q.id;
      v_back := q.before;
    else -- to the newest of the other replies
      select coalesce(max(o.position), r.before) into v_back from messages o
       where o.session_id = p_session and o.position > r.before and o.id <> r.id
         and coalesce(o.parent, o.position - 1) = r.before;
    end if;
  end if;

  perform delete_sessions(null, sessions_below_reply(r.id));
  delete from waits w where w.session_id = p_session and w.reply_id = r.id;
  delete from idempotency_keys k where k.session_id = p_session and k.reply_id = r.id;
  with gone as (delete from message_parts p where p.message_id = any(v_ids) returning coalesce(p.stored_as, p.sha256) as sha256)
  select array_agg(distinct g.sha256) into v_contents from gone g;
  delete from checkpoints c using messages m
   where m.id = any(v_ids) and c.session_id = p_session and c.position = m.position;
  delete from messages m where m.session_id = p_session and m.id = any(v_ids);
  if v_contents is not null then perform forget_parts(v_contents); end if;

  perform forget_texts(p_session);
  if v_back < 0 then
    select coalesce(max(m.position), -1) into v_back from messages m where m.session_id = p_session;
  end if;
  select m.status, m.finish_reason, m.error_code into last from messages m
   where m.session_id = p_session and m.first_seq is not null order by m.position desc limit 1;
  -- The newest reply may be on another branch, where it still runs or waits. One whose calls were decided waits no more.
  update sessions x
     set status = case when last.status is null then 'idle'
                       when last.status = 'streaming' then 'streaming'
                       when last.finish_reason = 'tool_calls'
                            and not exists (select 1 from waits w where w.session_id = p_session) then 'complete'
                       else rest_state(last.finish_reason) end,
         error_code = last.error_code,
         head = case when s.head is null or v_back < 0 then null when s.head = r.position then v_back else s.head end,
         bytes = session_bytes(p_session), updated_at = clock_timestamp()
   where x.id = p_session;
  return 'deleted';
end $$;
