-- revision 1
/* Stores the content that a session is made with: messages, {id, position, role, content, frame_ends, tool_events, parts}; summary,
   {id, text, model}, of what was before them; waits, {reply_id, carried}: a reply goes on from the last of them. What is absent is
   empty. Messages are complete and have no frames: first_seq tells replies of the session's own. */
create or replace function begin_session(p_session uuid, p_begins jsonb) returns void language plpgsql as $$
begin
  insert into messages (id, session_id, position, role, status, content, finish_reason, frame_ends, tool_events)
  select g.id, p_session, g.position, g.role, 'complete', g.content, case g.role when 'assistant' then 'stop' end,
         g.frame_ends, g.tool_events
    from jsonb_to_recordset(p_begins -> 'messages')
           as g(id uuid, position integer, role text, content text, frame_ends integer[], tool_events jsonb);
  perform add_parts(p_session, (g.given ->> 'id')::uuid, g.given -> 'parts')
     from jsonb_array_elements(p_begins -> 'messages') as g(given) where g.given ? 'parts';
  if p_begins ? 'summary' then
    insert into checkpoints (id, session_id, position, summary, model, prompt_tokens, completion_tokens, usage_estimated)
    select g.id, p_session, -1, g.text, g.model, 0, 0, false
      from jsonb_to_record(p_begins -> 'summary') as g(id uuid, text text, model text);
  end if;
  if p_begins ? 'waits' then
    insert into waits (session_id, reply_id, carried)
    values (p_session, (p_begins -> 'waits' ->> 'reply_id')::uuid, p_begins -> 'waits' ->> 'carried');
  end if;
end $$;
