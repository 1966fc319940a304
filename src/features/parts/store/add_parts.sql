-- revision 3
/* Stores which parts a message has, in their order. Their contents are there. Those of an output belong to its call. */
create or replace function add_parts(p_session uuid, p_message uuid, p_parts jsonb) returns void language sql as $$
  insert into message_parts (session_id, message_id, n, type, sha256, media_type, filename, size, detail, source_url,
                             text_place, stored_as, call_id)
  select p_session, p_message, x.n - 1, p.type, decode(p.sha256, 'hex'), p.media_type, p.filename, p.size, p.detail,
         p.source_url, p.text_place, decode(p.stored_as, 'hex'), p.call_id
    from jsonb_array_elements(p_parts) with ordinality as x(part, n),
         jsonb_to_record(x.part) as p(type text, sha256 text, media_type text, filename text, size integer, detail text,
                                      source_url text, text_place integer, stored_as text, call_id text)
$$;
