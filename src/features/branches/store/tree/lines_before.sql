-- revision 3
/* Returns the lines_before of a message that begins a line after the position p_at of the line p_line. At most 64
   lines: the size stored for a branch does not grow with its path. */
create or replace function lines_before(p_session uuid, p_at integer, p_line integer) returns integer[]
stable language plpgsql as $$
begin
  if p_at < 0 then return null; end if;
  return coalesce((select m.lines_before from messages m where m.session_id = p_session and m.position = p_line
                      and cardinality(m.lines_before) < 128), '{}') || array[coalesce(p_line, 0), p_at];
end $$;
