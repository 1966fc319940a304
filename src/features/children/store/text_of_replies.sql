-- revision 1
/* Returns the text of a reply and of those that continue it, by decisions, as far as it is stored. */
create or replace function text_of_replies(p_session uuid, p_reply uuid) returns text stable language sql as $$
  with recursive chain as (
    select m.id, m.status, m.content, 0 as n from messages m where m.id = p_reply and m.session_id = p_session
    union all
    select m.id, m.status, m.content, c.n + 1 from chain c join messages m on m.session_id = p_session and m.continues = c.id
  )
  select string_agg(case when c.status = 'streaming' then (select f.content from fold_frames(c.id) f) else c.content end,
                    '' order by c.n) from chain c
$$;
