-- revision 2
/* Returns how these children have ended, of those that have: the text of their replies (cut at p_most characters), and how the last
   one ended. state: ended, deleted, or removed (its message has not begun, and never will). What is returned is over. */
create or replace function child_ends(p_sessions uuid[], p_most integer)
returns table (session_id uuid, state text, content text, finish_reason text, error_code text, error_message text)
language plpgsql as $$
#variable_conflict use_column
begin
  return query
  with asked as materialized (
    select a.id, c.reply_id, c.session_id is not null as is_there, q.reply_id is not null and q.admission is null as waits,
           last_of_replies(a.id, c.reply_id) as last_id
      from unnest(p_sessions) as a(id)
      left join children c on c.session_id = a.id
      left join queued_messages q on q.reply_id = c.reply_id
  ), ends as materialized (
    select a.id, a.is_there, m.id is not null as has_begun, m.finish_reason, m.error_code, m.error_message, a.reply_id
      from asked a left join messages m on m.id = a.last_id and m.session_id = a.id
     where not a.is_there
        or (m.id is null and not a.waits)
        or (m.status <> 'streaming' and not exists (select from waits w where w.session_id = a.id and w.reply_id = m.id))
  ), marked as (
    update children c set over = true from ends e where c.session_id = e.id and not c.over
  )
  select e.id, case when not e.is_there then 'deleted' when not e.has_begun then 'removed' else 'ended' end,
         left(case when e.has_begun then text_of_replies(e.id, e.reply_id)
                   when not e.is_there then (select g.content from gone_children g where g.session_id = e.id) end, p_most),
         e.finish_reason, e.error_code, e.error_message
    from ends e;
end $$;
