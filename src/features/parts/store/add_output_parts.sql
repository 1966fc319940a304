-- revision 1
/* Stores the parts of outputs with the messages whose calls these answer: calls that wait, or have been answered by the message
   with p_parts. Parts of the message itself are passed over. Their contents are there. */
create or replace function add_output_parts(p_session uuid, p_parts jsonb) returns void language sql as $$
  insert into message_parts (session_id, message_id, n, type, sha256, media_type, filename, size, detail, source_url,
                             text_place, stored_as, call_id)
  select p_session, c.reply_id,
         coalesce((select max(o.n) + 1 from message_parts o where o.message_id = c.reply_id), 0)
           + row_number() over (partition by c.reply_id order by x.n) - 1,
         p.type, decode(p.sha256, 'hex'), p.media_type, p.filename, p.size, p.detail, p.source_url, p.text_place,
         decode(p.stored_as, 'hex'), p.call_id
    from jsonb_array_elements(p_parts) with ordinality as x(part, n)
   cross join lateral jsonb_to_record(x.part) as p(
           type text, sha256 text, media_type text, filename text, size integer, detail text, source_url text,
           text_place integer, stored_as text, call_id text)
   cross join lateral (
           select w.reply_id from waiting_calls w
            where w.session_id = p_session and w.call_id = p.call_id and w.kind = 'caller'
            order by w.asked_at desc, w.reply_id limit 1) c
   where p.call_id is not null;
$$;
