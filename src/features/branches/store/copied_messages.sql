-- revision 2
/* Returns the messages of a path with their copies in the session p_to. The copies' positions are 0, 1, 2, … p_end: the
   path's last position. */
create or replace function copied_messages(p_from uuid, p_end integer, p_to uuid)
returns table (original uuid, copy uuid) stable language plpgsql as $$
begin
  return query
  select o.id, c.id
    from (select m.id, (row_number() over (order by m.position) - 1)::integer as place
            from path_lines(p_from, p_end) l
            join messages m on m.session_id = p_from and m.position between l.first_at and l.last_at) o
    join messages c on c.session_id = p_to and c.position = o.place;
end $$;
