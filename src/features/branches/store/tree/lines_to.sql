-- revision 3
/* Returns the path that ends at a message, as lines. A line is a run of positions, given by its first and its last one.
   Lines come oldest first. Each message of a line follows the one before. The first message of a line stores the lines
   before it. A path is therefore found in few steps, however often it turns, and messages of other branches are never
   read. In plpgsql: its statements are planned once for each connection, because planning a recursion took longer than
   running it. */
create or replace function lines_to(p_session uuid, p_position integer) returns integer[] stable language plpgsql as $$
declare
  v_lines integer[];
  v_before integer[]; -- those before the oldest line so far
begin
  select array[coalesce(m.line, 0), m.position] into v_lines
    from messages m where m.session_id = p_session and m.position = p_position;
  while v_lines[1] > 0 loop
    select m.lines_before into v_before from messages m where m.session_id = p_session and m.position = v_lines[1];
    exit when v_before is null;
    v_lines := v_before || v_lines;
  end loop;
  return v_lines;
end $$;
