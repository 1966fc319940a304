-- revision 3
/* Stores messages that a caller gives to a conversation, behind its head: all of them or none.
   p_given: {messages: [{id, position (0, 1, …), role, content, frame_ends, tool_events, parts}], bytes (of all), title (for a session without
   one; absent: none), after (id of the message that they follow; absent: none), key, body_hash (hex; absent: no key),
   max_session_bytes, max_user_bytes}.
   Answers given, not_found, busy (a reply or a compaction runs, calls wait, or messages are queued), moved (another message is
   the head), session_full, user_full, repeated (the key has stored them) or key_reused. */
create or replace function give_messages(p_session uuid, p_given jsonb) returns text language plpgsql as $$
declare
  g record;
  s record;
  h record; -- the head
  k record;
  v_next integer;
  v_last integer;
  v_now timestamptz;
  v_is_straight boolean;
begin
  select * into g from jsonb_to_record(p_given) as x(
    messages jsonb, bytes bigint, title text, after uuid, key text, body_hash text, max_session_bytes bigint,
    max_user_bytes bigint);
  select x.head, x.compaction, x.queued, x.bytes, x.agent_id, x.end_user into s from sessions x
   where x.id = p_session for no key update;
  if not found then return 'not_found'; end if;
  if g.key is not null then
    select x.body_hash into k from idempotency_keys x
     where x.session_id = p_session and x.key = g.key and x.created_at > clock_timestamp() - interval '24 hours';
    if found then
      return case when k.body_hash = decode(g.body_hash, 'hex') then 'repeated' else 'key_reused' end;
    end if;
  end if;
  if is_held(p_session, s.queued, s.compaction) then return 'busy'; end if;

  select coalesce(max(m.position), -1) + 1 into v_next from messages m where m.session_id = p_session;
  select m.id, m.position, m.line into h from messages m
   where m.session_id = p_session and m.position = coalesce(s.head, v_next - 1);
  if h.id is distinct from g.after then return 'moved'; end if;
  s.bytes := coalesce(s.bytes, session_bytes(p_session));
  if s.bytes + g.bytes > g.max_session_bytes then return 'session_full'; end if;
  if user_full(s.agent_id, s.end_user, g.bytes, g.max_user_bytes, true) then return 'user_full'; end if;

  v_now := clock_timestamp();
  v_is_straight := h.id is null or h.position = v_next - 1;
  insert into messages (id, session_id, position, role, status, content, created_at, finish_reason, frame_ends, tool_events,
                        parent, line, lines_before)
  select m.id, p_session, v_next + m.position, m.role, 'complete', m.content, v_now,
         case m.role when 'assistant' then 'stop' end, m.frame_ends, m.tool_events,
         case when not v_is_straight and m.position = 0 then h.position end,
         case when v_is_straight then h.line else v_next end,
         case when not v_is_straight and m.position = 0 then lines_before(p_session, h.position, h.line) end
    from jsonb_to_recordset(g.messages) as m(id uuid, position integer, role text, content text, frame_ends integer[],
                                             tool_events jsonb);
  perform add_parts(p_session, (x.given ->> 'id')::uuid, x.given -> 'parts')
     from jsonb_array_elements(g.messages) x(given) where x.given ? 'parts';
  v_last := v_next + jsonb_array_length(g.messages) - 1;
  if g.key is not null then
    insert into idempotency_keys (session_id, key, body_hash, reply_id)
    values (p_session, g.key, decode(g.body_hash, 'hex'), (g.messages -> -1 ->> 'id')::uuid)
    on conflict (session_id, key) do update
      set body_hash = excluded.body_hash, reply_id = excluded.reply_id, created_at = clock_timestamp();
  end if;
  update sessions
     set updated_at = v_now, head = v_last, given_at = v_last, bytes = s.bytes + g.bytes, title = coalesce(title, g.title)
   where id = p_session;
  return 'given';
end $$;
