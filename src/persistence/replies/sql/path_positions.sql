-- revision 1
/* All positions of the path that ends at one, in no order. In plpgsql, so that it is planned once for each connection:
   planning the recursion of path_lines takes longer than running it. */
create or replace function path_positions(p_session uuid, p_position integer) returns integer[] stable language plpgsql as $$
begin
  return array(select n from path_lines(p_session, p_position) l, generate_series(l.first_at, l.last_at) n);
end $$;
