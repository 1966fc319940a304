-- revision 5
/* Returns the positions of the messages that a list of a session reads, in their order: those on the path to p_head (null: there are no
   branches), behind p_after and before p_before (null: no bound), and of those p_limit at most (null: all): the first ones
   behind p_after, else the last ones. One array is one index scan, however often the path turns. */
create or replace function path_page(p_session uuid, p_head integer, p_after integer, p_before integer, p_limit integer)
returns integer[] stable language plpgsql
-- A plan for the very lines looks cheaper than one for any, but making it for each list took longer than running it.
set plan_cache_mode to force_generic_plan as $$
declare
  v_first integer := coalesce(p_after + 1, 0);
  v_last integer := p_before - 1;
  v_lines integer[];
  v_page integer[];
begin
  if p_head is not null then
    v_lines := lines_to(p_session, p_head);
    v_page := array(
      select generate_series(greatest(v_lines[l], v_first), least(v_lines[l + 1], v_last))
        from generate_series(1, cardinality(v_lines), 2) l);
    if p_limit is null then return v_page; end if;
    if p_after is not null then return v_page[:p_limit]; end if;
    return v_page[greatest(1, cardinality(v_page) - p_limit + 1):];
  end if;
  -- The pages of all branches look their positions up: a deleted reply leaves a gap among them.
  if p_limit is null then
    return array(
      select generate_series(v_first, coalesce(
               v_last, (select m.position from messages m where m.session_id = p_session order by m.position desc limit 1))));
  end if;
  if p_after is not null then
    return array(
      select m.position from messages m
       where m.session_id = p_session and m.position >= v_first order by m.position limit p_limit);
  end if;
  return array(
    select p.position from (
      select m.position from messages m
       where m.session_id = p_session and m.position <= coalesce(v_last, 2147483647) order by m.position desc limit p_limit) p
     order by p.position);
end $$;
