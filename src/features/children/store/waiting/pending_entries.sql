-- revision 3
/* Returns the calls that may be decided now at a waiting session: its own (pending_calls), and those of the sessions that answer
   its calls and wait themselves, at any depth. path: [{agent_id, session_id, call_id}], from the session's own call down to the
   one that the session which asks answers; null for its own calls. places: of these calls, to order them by. It counts as cheap
   and is not inlined: few sessions wait, and lists of sessions must not be planned by the cost of those that do. */
create or replace function pending_entries(p_session uuid)
returns table (session_id uuid, reply_id uuid, place integer, call_id text, name text, arguments text, kind text, path jsonb,
               places integer[]) stable cost 1 rows 4 language plpgsql as $$
#variable_conflict use_column
begin
  if not exists (select from waiting_calls c where c.session_id = p_session and c.open and c.kind = 'child') then
    -- Nothing below it asks, as in each session whose agent asks no other one.
    return query
    select p_session, p.reply_id, p.place, p.call_id, p.name, p.arguments, p.kind, null::jsonb, array[p.place]
      from sessions s cross join lateral pending_calls(p_session) p where s.id = p_session and s.status = 'waiting';
    return;
  end if;
  return query
  with recursive asking as (
    select s.id, null::jsonb as path, '{}'::integer[] as places from sessions s where s.id = p_session and s.status = 'waiting'
    union all
    select s.id, coalesce(a.path, '[]') || jsonb_build_object('agent_id', s.agent_id, 'session_id', s.id, 'call_id', c.call_id),
           a.places || c.place
      from asking a
      join waiting_calls c on c.session_id = a.id and c.open and c.kind = 'child' and c.decision is null
      join children k on k.parent_reply = c.reply_id and k.place = c.place
      join sessions s on s.id = k.session_id and s.status = 'waiting'
  )
  select a.id, p.reply_id, p.place, p.call_id, p.name, p.arguments, p.kind, a.path, a.places || p.place
    from asking a cross join lateral pending_calls(a.id) p;
end $$;
