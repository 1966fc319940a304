-- revision 1
/* Returns the first of the replies that a reply continues, by decisions: itself where it continues none. */
create or replace function first_of_replies(p_session uuid, p_reply uuid) returns uuid stable language sql as $$
  with recursive chain as (
    select m.id, m.continues, 0 as n from messages m where m.session_id = p_session and m.id = p_reply
    union all
    select m.id, m.continues, c.n + 1 from chain c join messages m on m.session_id = p_session and m.id = c.continues
  )
  select coalesce((select c.id from chain c order by c.n desc limit 1), p_reply)
$$;
