-- revision 2
/* Returns the approved calls that a running reply has begun, each with its result as far as that is stored. Of a reply that has
   ended there are none here: keep_waiting_calls has noted them. */
create or replace function begun_calls(p_reply uuid)
returns table (call_id text, ok boolean, content text, duration_ms integer) stable language plpgsql as $$
begin
  return query
  with events as (
    select case when f.part > 0 then f.text::jsonb end as event
      from messages m cross join running_frames(m.id, 0, 0) f
     where m.id = p_reply and m.status = 'streaming'
  )
  select b.event ->> 'id', (r.event ->> 'ok')::boolean, r.event ->> 'content',
         (r.event ->> 'durationMs')::numeric::integer
    from events b
    left join events r on r.event ->> 'type' = 'tool_result' and r.event ->> 'id' = b.event ->> 'id'
   where b.event ->> 'type' = 'tool_begun';
end $$;
