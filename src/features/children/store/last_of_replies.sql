-- revision 1
/* Returns the reply that goes on from this one by decisions, and from which none does (yet): itself where none does. */
create or replace function last_of_replies(p_session uuid, p_reply uuid) returns uuid stable language sql as $$
  with recursive chain as (
    select p_reply as id, 0 as n
    union all
    select m.id, c.n + 1 from chain c join messages m on m.session_id = p_session and m.continues = c.id
  )
  select c.id from chain c order by c.n desc limit 1
$$;
