-- revision 1
/* The path that ends at a message, as lines: runs of positions of which each message follows the one before. Oldest first,
   each as its first and its last position. A line's first message stores those before it, so that a path is found in few
   steps, however often it turns, and what lies on other branches is never touched. Messages of older versions store none:
   then it takes a step for each line.
   In plpgsql: its statements are planned once for each connection. Planning a recursion took longer than running it. */
create or replace function lines_to(p_session uuid, p_position integer) returns integer[] stable language plpgsql as $$
declare
  v_lines integer[];
  f record; -- the first message of the oldest line so far
begin
  select array[coalesce(m.line, 0), m.position] into v_lines
    from messages m where m.session_id = p_session and m.position = p_position;
  loop
    exit when v_lines[1] = 0;
    select m.parent, m.lines_before into f from messages m where m.session_id = p_session and m.position = v_lines[1];
    if f.lines_before is null then
      exit when f.parent is null or f.parent < 0;
      select array[coalesce(m.line, 0), m.position] into f.lines_before
        from messages m where m.session_id = p_session and m.position = f.parent;
    end if;
    v_lines := f.lines_before || v_lines;
  end loop;
  return v_lines;
end $$;
