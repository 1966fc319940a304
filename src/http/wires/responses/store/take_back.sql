-- revision 3
/* Takes the last item of a conversation's path back: of the message at the head, and of messages before it that share its calls.
   p_changes: [{id, content, frame_ends, tool_events}], the head first, as given messages; {id, gone: true}: nothing is left of it.
   p_call: the call that goes with its output; null: none.
   Answers taken, not_found, busy (see is_held) or moved (another message is the head, or other messages follow it). */
create or replace function take_back(p_session uuid, p_changes jsonb, p_call text) returns text language plpgsql as $$
declare
  s record;
  h record;
  c record;
  v_back integer; -- position that the head moves back to; -1: there is none before it
  v_contents bytea[];
begin
  select x.head, x.compaction, x.queued into s from sessions x where x.id = p_session for no key update;
  if not found then return 'not_found'; end if;
  if is_held(p_session, s.queued, s.compaction) then return 'busy'; end if;
  select m.id, m.position, coalesce(m.parent, m.position - 1) as before into h from messages m
   where m.session_id = p_session
     and m.position = coalesce(s.head, (select max(x.position) from messages x where x.session_id = p_session));
  if h.id is distinct from (p_changes -> 0 ->> 'id')::uuid then return 'moved'; end if;
  perform 1 from messages m
    where m.session_id = p_session and m.position > h.position and coalesce(m.parent, m.position - 1) = h.position;
  if found then return 'moved'; end if;

  if p_call is not null then
    delete from waiting_calls w using jsonb_to_recordset(p_changes) as x(id uuid)
     where w.session_id = p_session and w.reply_id = x.id and w.call_id = p_call;
  end if;
  v_back := h.position;
  for c in
    select x.* from jsonb_to_recordset(p_changes) as x(id uuid, gone boolean, content text, frame_ends integer[],
                                                       tool_events jsonb)
  loop
    delete from idempotency_keys k where k.session_id = p_session and k.reply_id = c.id;
    delete from checkpoints p using messages m where m.id = c.id and p.session_id = p_session and p.position >= m.position;
    -- An output's parts go with its call.
    with gone as (
      delete from message_parts p
       where p.message_id = c.id
         and (c.gone or p.call_id is not null and not coalesce(
                jsonb_path_exists(c.tool_events, '$[*].event ? (@.type == "tool_call" && @.id == $id)', jsonb_build_object('id', p.call_id)), false))
      returning coalesce(p.stored_as, p.sha256) as sha256)
    select array_agg(distinct g.sha256) into v_contents from gone g;
    if c.gone then
      select coalesce(m.parent, m.position - 1) into v_back from messages m where m.id = c.id;
      delete from messages m where m.id = c.id and m.session_id = p_session;
    else
      update messages m
         set content = c.content, frame_ends = c.frame_ends, tool_events = c.tool_events, status = 'complete',
             finish_reason = 'stop', first_seq = null, model = null, session_num = null, reasoning = null,
             reasoning_frames = null, reasoning_ends = null, reasoning_ms = null, shown_calls = null, facts = null,
             error_code = null, error_message = null, error_detail = null
       where m.id = c.id and m.session_id = p_session;
    end if;
    if v_contents is not null then perform forget_parts(v_contents); end if;
  end loop;
  perform forget_texts(p_session);
  update sessions x
     set head = case when v_back >= 0 then v_back end,
         -- The next message comes behind all that are left.
         given_at = (select max(m.position) from messages m where m.session_id = p_session),
         status = coalesce((select case m.finish_reason when 'tool_calls' then 'complete' else rest_state(m.finish_reason) end
                              from messages m where m.session_id = p_session and m.first_seq is not null order by m.position desc limit 1), 'idle'),
         bytes = session_bytes(p_session), updated_at = clock_timestamp()
   where x.id = p_session;
  return 'taken';
end $$;
