-- revision 7
/* Returns the path that ends at the position p_end: of its messages the newest ones that fit p_max_bytes, and always the newest one,
   down to what a summary stands for. The first row is no message: it has the summary alone (checkpointId, covered, summary;
   null: there is none). The messages follow, oldest first.
   tools: [{end, event}], see HistoryToolEvent; what may be long in them is cut to one character (code point) more than
   p_max_tool_text, and so it is in decided (see HistoryDecision). Null: there is nothing.
   Walks backwards and stops there, so that no more is decompressed than is sent, however long the tool results of old
   replies, and no other branch is read. */
create or replace function path_history(p_session uuid, p_end integer, p_max_bytes bigint, p_max_tool_text integer)
returns table ("position" integer, role text, content text, tools jsonb, decided jsonb, next integer, sent jsonb,
               "isTooLong" boolean, parts jsonb, "checkpointId" uuid, covered integer, summary text)
stable rows 10 language plpgsql as $$
#variable_conflict use_column
begin
  return query
  with recursive checkpoint as materialized (
    select c.id, c.position, c.summary from checkpoints c
     where c.session_id = p_session and c.position <= p_end
       -- A summary at -1 is of a conversation before the session: it stands before every path.
       and (c.position < 0
            or exists (select 1 from path_lines(p_session, p_end) l where c.position between l.first_at and l.last_at))
     order by c.position desc, c.created_at desc limit 1
  ), history as (
    select null::integer as position, p_end as next, null::uuid as id, null::text as role,
           null::text as content, null::jsonb as tools, null::jsonb as decided, 0::bigint as used, null::jsonb as sent,
           null::boolean as is_too_long, null::integer as stop
    union all
    select m.position, coalesce(m.parent, m.position - 1), m.id, m.role, m.content, t.tools, t.decided,
           h.used + octet_length(m.content) + coalesce(octet_length(t.tools::text), 0), coalesce(h.sent, m.facts -> 'sent'),
           m.error_code = 'context_length_exceeded', coalesce(h.stop, (m.facts -> 'sent' ->> 'from')::integer)
      from history h
      -- Offset: entered by its key. A plan made while the table was small read the whole session for each message.
     cross join lateral (
        select x.* from messages x where x.session_id = p_session and x.position = h.next offset 0) m
      -- Few messages have either, so neither is looked up for the others. Offset: each is worked out once.
     cross join lateral (
        select case when m.tool_events is not null then (
                 select jsonb_agg(jsonb_build_object(
                          'end', coalesce(m.frame_ends[(e.stored ->> 'seq')::bigint - coalesce(m.first_seq, 0)], 0),
                          'event', e.stored -> 'event' || jsonb_build_object(
                                     long.field, left(e.stored -> 'event' ->> long.field, p_max_tool_text + 1)))
                        order by e.place)
                   from jsonb_array_elements(m.tool_events) with ordinality as e (stored, place)
                   join (values ('tool_call', 'arguments'), ('tool_result', 'content')) as long (type, field)
                     on long.type = e.stored -> 'event' ->> 'type') end as tools,
               case when m.finish_reason = 'tool_calls' then (
                 select jsonb_agg(jsonb_build_object(
                          'id', w.call_id, 'decision', w.decision, 'arguments', left(w.decided_arguments, p_max_tool_text + 1),
                          'output', left(w.output, p_max_tool_text + 1), 'reason', left(w.reason, p_max_tool_text + 1),
                          'begun', w.begun, 'content', left(w.content, p_max_tool_text + 1)) order by w.place)
                   from waiting_calls w where w.reply_id = m.id) end as decided
        offset 0) t
     -- What the newest reply was not sent any more is not read again, nor what a summary stands for.
     where h.used <= p_max_bytes and (h.stop is null or h.next >= h.stop)
       and h.next > coalesce((select c.position from checkpoint c), -1)
  )
  select h.position, h.role, h.content, h.tools, h.decided, h.next, h.sent, h.is_too_long,
         -- Users send parts, and outputs of calls hold some. One look whether the session has any spares a look for each message.
         case when (h.role = 'user' or h.tools is not null) and exists (select 1 from message_parts x where x.session_id = p_session) then (
           select jsonb_agg(jsonb_build_object(
                    'type', p.type, 'sha256', encode(p.sha256, 'hex'), 'media_type', p.media_type, 'filename', p.filename,
                    'size', p.size, 'detail', p.detail, 'source_url', p.source_url, 'text_place', p.text_place,
                    'stored_as', encode(p.stored_as, 'hex'), 'call_id', p.call_id,
                    'text_size', case when p.media_type like 'application/vnd.%' then (
                      select t.size from part_texts t where t.sha256 = coalesce(p.stored_as, p.sha256)) end) order by p.n)
             from message_parts p where p.message_id = h.id) end,
         c.id, c.position, c.summary
    from history h left join checkpoint c on h.role is null order by h.position nulls first;
end $$;
