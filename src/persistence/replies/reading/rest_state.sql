-- revision 3
/* Returns the state in which a reply leaves its session, by its finish_reason. Null: it has none yet, or one that is unknown, which
   no message can have. The server's own table is in reply-event.ts; vocabulary.test.ts compares them. */
create or replace function rest_state(p_finish_reason text) returns text language sql immutable as $$
  select case p_finish_reason
    when 'stop' then 'complete'
    when 'length' then 'complete'
    when 'content_filter' then 'complete'
    when 'steered' then 'complete'
    when 'cancelled' then 'cancelled'
    when 'tool_calls' then 'waiting'
    when 'error' then 'error' end
$$;
