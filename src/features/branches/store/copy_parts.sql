-- revision 3
/* Gives a fork's messages what the path that they are copies of has: message by message, from the first to the one at
   p_last. Contents are there once, as before. */
create or replace function copy_parts(p_from uuid, p_last integer, p_to uuid) returns void language plpgsql as $$
begin
  if not exists (select 1 from message_parts p where p.session_id = p_from) then return; end if;
  insert into message_parts (session_id, message_id, n, type, sha256, media_type, filename, size, detail, source_url,
                             text_place, stored_as, call_id)
  select p_to, c.id, p.n, p.type, p.sha256, p.media_type, p.filename, p.size, p.detail, p.source_url, p.text_place,
         coalesce(p.stored_as, p.sha256), p.call_id
    from (select m.id, row_number() over (order by m.position) - 1 as place
            from path_lines(p_from, p_last) l
            join messages m on m.session_id = p_from and m.position between l.first_at and l.last_at) o
    join message_parts p on p.message_id = o.id
    join messages c on c.session_id = p_to and c.position = o.place;
end $$;
