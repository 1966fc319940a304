-- revision 5
/* Locks the session of a message, and reads it with its newest reply but p_reply. p_user: whose session it must be; null:
   anybody's.
   Returns num (null: there is no such session), next_seq, title, title_is_draft, head, end_user, metadata (as it counts in
   prompts and tools), status, queued, bytes, compaction, agent_version and parent of the session; last_id, last_position, last_line, last_status and last_finish_reason of its newest reply
   (null: it has none); next_position, where the next message is stored; rest_state; first_text (of a session without a final
   title: its first user message; null: it has none). */
create or replace function lock_session(p_session uuid, p_agent uuid, p_user text, p_reply uuid) returns record
language plpgsql as $$
declare
  s record;
begin
  -- `is not distinct from` uses no index. Planned while the table is small, `=` would scan the agent's newest sessions, and
  -- later all of them.
  select x.num, x.next_seq, x.title, x.title_is_draft, x.head, x.end_user, x.metadata - x.uncounted as metadata,
         x.status, x.queued, x.bytes, x.compaction, x.given_at, x.agent_version, x.parent,
         null::uuid as last_id, null::integer as last_position, null::integer as last_line, null::text as last_status,
         null::text as last_finish_reason, null::integer as next_position, 'idle' as rest_state,
         null::text as first_text
    into s from sessions x
   where x.id = p_session and x.agent_id is not distinct from p_agent and (p_user is null or x.end_user = p_user)
     for no key update;
  if not found then return s; end if;

  select x.id, x.position, x.line, x.status, x.finish_reason
    into s.last_id, s.last_position, s.last_line, s.last_status, s.last_finish_reason from messages x
   where x.session_id = p_session and x.first_seq is not null and x.id <> p_reply order by x.position desc limit 1;
  if found then
    -- Replies are last, but for the messages that were given behind them.
    s.next_position := greatest(s.last_position, s.given_at) + 1;
    s.rest_state := rest_state(s.last_finish_reason);
  else
    select coalesce(max(x.position), -1) + 1 into s.next_position from messages x where x.session_id = p_session;
  end if;
  if s.next_position > 0 and (s.title is null or s.title_is_draft) then
    select left(x.content, 10000) into s.first_text from messages x
     where x.session_id = p_session and x.role = 'user' order by x.position limit 1;
  end if;
  return s;
end $$;
