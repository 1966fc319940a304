-- revision 2
/* Finds the place of a message in its session. m: see message_fields. s: see lock_session. Returns what find_place returns;
   without its queries where the message follows the newest reply, or is the first. */
create or replace function place_message(
  m record, s record,
  out fault text, out at integer, out line integer, out id uuid, out content text, out before_at integer
) language plpgsql as $$
begin
  if m.decisions is not null
     or (m.place is null and s.last_id is not null and coalesce(s.head, s.last_position) = s.last_position) then
    at := s.last_position;
    line := s.last_line;
    id := s.last_id;
    if s.last_id is null then -- the reply goes on from a message that the session was made with
      select x.position, x.line, x.id into at, line, id from messages x
       where x.id = m.wait_id and x.session_id = m.session_id;
    end if;
    return;
  end if;
  if m.place is null and s.next_position = 0 then
    at := -1;
    return;
  end if;
  select p.fault, p.at, p.line, p.id, p.content, p.before_at
    into fault, at, line, id, content, before_at from find_place(m.session_id, s.head, m.place) p;
  -- A message that is to follow one in the queue waits there too: its place is found when it begins.
  if fault = 'unknown_parent' and m.on_busy = 'enqueue' and s.queued > 0 then
    perform 1 from queued_messages q
     where q.session_id = m.session_id and q.reply_id = (m.place ->> 'parent')::uuid and q.admission is null;
    if found then fault := null; end if;
  end if;
end $$;
