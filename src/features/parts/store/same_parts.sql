-- revision 3
/* Returns whether a message has these parts. They are compared by their SHA-256, and a fetched picture by its address.
   */
create or replace function same_parts(p_message uuid, p_parts jsonb) returns boolean language sql stable as $$
  select coalesce((select jsonb_agg(coalesce(p.source_url, encode(p.sha256, 'hex')) order by p.n)
                     from message_parts p where p.message_id = p_message), '[]')
       = coalesce((select jsonb_agg(coalesce(x.part ->> 'source_url', x.part ->> 'sha256') order by x.n)
                     from jsonb_array_elements(p_parts) with ordinality as x(part, n)
                    where not x.part ? 'call_id'), '[]')
$$;
