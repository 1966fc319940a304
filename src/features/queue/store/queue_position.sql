-- revision 2
/* Returns the place of a message in its session's queue: 1 is next. Null when it does not wait there (any more). */
create or replace function queue_position(p_reply uuid) returns integer stable language sql as $$
  select (select count(*)::integer from queued_messages o
           where o.session_id = q.session_id and o.admission is null and o.rank > 0 and (o.rank, o.num) <= (q.rank, q.num))
    from queued_messages q where q.reply_id = p_reply and q.admission is null
$$;
