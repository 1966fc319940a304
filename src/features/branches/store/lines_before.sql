-- revision 2
/* What a message that begins a line behind the position p_at of the line p_line stores as lines_before. At most 64 lines:
   what a branch stores does not grow with its path. */
create or replace function lines_before(p_session uuid, p_at integer, p_line integer) returns integer[]
stable language plpgsql as $$
begin
  if p_at < 0 then return null; end if;
  return coalesce((select m.lines_before from messages m where m.session_id = p_session and m.position = p_line
                      and cardinality(m.lines_before) < 128), '{}') || array[coalesce(p_line, 0), p_at];
end $$;
