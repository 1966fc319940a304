-- revision 1
/* The path that ends at a message, newest first, as runs of positions of which each message follows the one before. So a
   path is read in as many steps as it has branches, by ranges, and what lies on other branches is never touched.
   p_position null: a session without branches. */
create or replace function path_lines(p_session uuid, p_position integer)
returns table (first_at integer, last_at integer) stable language sql rows 5 as $$
  with recursive lines as (
    select coalesce(m.line, 0) as first_at, m.position as last_at
      from messages m where m.session_id = p_session and m.position = p_position
    union all
    select coalesce(p.line, 0), p.position
      from lines l
      join messages f on f.session_id = p_session and f.position = l.first_at
      join messages p on p.session_id = p_session and p.position = f.parent
  )
  select l.first_at, l.last_at from lines l
  union all
  select 0, 2147483647 where p_position is null
$$;
