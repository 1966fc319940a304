-- revision 4
/* Turns the path of a session to the branch of a message: it ends at the leaf below that message which was made last.
   Answers moved, not_found, busy (a reply or a compaction runs, or calls wait for somebody), answers_call (see there) or
   unknown_message. Lists do not count it as an update. */
create or replace function move_head(p_agent uuid, p_session uuid, p_message uuid) returns text language plpgsql as $$
declare
  s record;
  r record;
  v_at integer;
  v_leaf integer;
  v_below boolean[]; -- positions below v_at
begin
  select x.head, x.compaction into s from sessions x where x.id = p_session and x.agent_id = p_agent for update;
  if not found then return 'not_found'; end if;
  if answers_call(p_session) then return 'answers_call'; end if;
  select m.position into v_at from messages m where m.id = p_message and m.session_id = p_session;
  if not found then return 'unknown_message'; end if;
  perform 1 from messages m where m.session_id = p_session and m.status = 'streaming';
  if found then return 'busy'; end if;
  perform 1 from waits w where w.session_id = p_session;
  if found then return 'busy'; end if;
  if s.compaction is not null then
    if is_compacting(s.compaction) then return 'busy'; end if;
  end if;
  if s.head is null then return 'moved'; end if; -- there is one leaf

  -- Children come behind their parents, so one pass finds all that lies below, and the last of it is a leaf.
  v_leaf := v_at;
  for r in
    select m.position as at, coalesce(m.parent, m.position - 1) as parent
      from messages m where m.session_id = p_session and m.position > v_at order by m.position
  loop
    if r.parent = v_at or v_below[r.parent] then
      v_below[r.at] := true;
      v_leaf := r.at;
    end if;
  end loop;
  update sessions x set head = v_leaf where x.id = p_session;
  return 'moved';
end $$;
