-- revision 3
/* Returns the lines of the path that ends at a message (lines_to). p_position null: a session without branches. */
create or replace function path_lines(p_session uuid, p_position integer)
returns table (first_at integer, last_at integer) stable language sql rows 5 as $$
  select p.lines[n], p.lines[n + 1]
    from (select case when p_position is null then '{0,2147483647}' else lines_to(p_session, p_position) end as lines offset 0) p,
         generate_series(1, cardinality(p.lines), 2) n
$$;
