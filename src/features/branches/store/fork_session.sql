-- revision 13
/* Makes a session that begins with a copy of another one's path, up to a message and, of a reply, up to a frame.
   p_fork: {id, agent_id, title, end_user, metadata (null: the other one's), secret_number (of the client secret that makes
   it; null: none), from, owner (whose session that must be; null: anybody's), message_id (null: its head), frame_id
   (null: all that is stored), agent_version (its pin; absent: the other one's), max_session_bytes, max_user_bytes, max_user_sessions (see admit_message)}.
   Answers made, taken, too_many_sessions, no_agent, no_session, unknown_message or no_frame. Raises GR401, as check_client_secret, and
   GR413 with session_full or user_full, where the copy would be too large. */
create or replace function fork_session(p_fork jsonb) returns text language plpgsql as $$
declare
  f record;
  s record;
  last record;
  v_bytes bigint; -- of the copy
  v_user text; -- whose it is
begin
  select * into f from jsonb_to_record(p_fork) as x(
    id uuid, agent_id uuid, title text, end_user text, metadata jsonb, secret_number bigint, "from" uuid, owner text,
    message_id uuid, frame_id bigint, agent_version integer, max_session_bytes bigint, max_user_bytes bigint,
    max_user_sessions bigint);
  perform 1 from agents a where a.id = f.agent_id for key share;
  if not found then return 'no_agent'; end if;
  if f.secret_number is not null then
    perform check_client_secret(f.agent_id, f.owner, f.secret_number);
  end if;

  -- A settlement, which moves a reply from its frames to its message, waits for us; writes of frames do not.
  select x.id, x.head, x.title, x.end_user, x.metadata, x.uncounted, x.agent_version into s from sessions x
   where x.id = f."from" and x.agent_id = f.agent_id and (f.owner is null or x.end_user = f.owner)
     for share;
  if not found then return 'no_session'; end if;

  if f.message_id is not null then
    select m.id, m.position, m.role, m.first_seq into last
      from messages m where m.id = f.message_id and m.session_id = s.id;
    if not found then return 'unknown_message'; end if;
  elsif s.head is not null then
    select m.id, m.position, m.role, m.first_seq into last
      from messages m where m.session_id = s.id and m.position = s.head;
  else
    select m.id, m.position, m.role, m.first_seq into last
      from messages m where m.session_id = s.id order by m.position desc limit 1;
  end if;
  if f.frame_id is not null and (last.first_seq is null or f.frame_id < last.first_seq) then return 'no_frame'; end if;

  v_user := coalesce(f.end_user, s.end_user);
  if f.max_user_bytes is not null and v_user is not null then -- one after the other: many at once would pass together
    perform pg_advisory_xact_lock(hashtextextended('user_bytes' || f.agent_id || v_user, 0));
  end if;
  if free_sessions(f.agent_id, v_user, f.max_user_sessions) < 1 then return 'too_many_sessions'; end if;
  insert into sessions (id, agent_id, title, end_user, metadata, uncounted, agent_version, forked_from)
  values (f.id, f.agent_id, coalesce(f.title, s.title), v_user, coalesce(f.metadata, s.metadata),
          case when f.metadata is null then s.uncounted
               when f.secret_number is null then '{}'
               else uncounted_metadata(f.metadata, s.metadata - s.uncounted) end,
          case when p_fork ? 'agent_version' then f.agent_version else s.agent_version end,
          jsonb_build_object('session_id', s.id, 'message_id', last.id, 'frame_id', f.frame_id))
  on conflict (id) do nothing;
  if not found then return 'taken'; end if;
  insert into messages
  select c.*
    from (select m, (row_number() over (order by m.position) - 1)::integer as place
            from path_lines(s.id, last.position) l
            join messages m on m.session_id = s.id and m.position between l.first_at and l.last_at
           where last.position is not null) p
    cross join lateral copy_message(p.m, f.id, p.place, case when (p.m).id = last.id then f.frame_id end) c;
  perform copy_parts(s.id, last.position, f.id);
  -- One that ends with a reply which is copied in part would tell more than the copy.
  insert into checkpoints (id, session_id, position, summary, model, prompt_tokens, completion_tokens, usage_estimated,
                           counted, created_at)
  select gen_random_uuid(), f.id, c.position, k.summary, k.model, k.prompt_tokens, k.completion_tokens, k.usage_estimated,
         k.counted, k.created_at
    from checkpoints k
    join messages o on o.session_id = s.id and o.position = k.position
    join copied_messages(s.id, last.position, f.id) m on m.original = o.id
    join messages c on c.id = m.copy
   where k.session_id = s.id and (f.frame_id is null or k.position < last.position)
  union all
  select gen_random_uuid(), f.id, k.position, k.summary, k.model, k.prompt_tokens, k.completion_tokens, k.usage_estimated,
         k.counted, k.created_at
    from checkpoints k
   where k.session_id = s.id and k.position < 0 and last.position is not null;
  v_bytes := session_bytes(f.id);
  if v_bytes > f.max_session_bytes then raise exception 'session_full' using errcode = 'GR413'; end if;
  if f.max_user_bytes is not null then
    if user_bytes(f.agent_id, v_user) + v_bytes > f.max_user_bytes then
      raise exception 'user_full' using errcode = 'GR413';
    end if;
  end if;
  update sessions set bytes = v_bytes where id = f.id;
  perform copy_waiting_calls(s.id, last.position, f.id);
  return 'made';
end $$;
