-- revision 1
/* The frames of a running reply as its message will keep them: the text, where each text frame ends in it (UTF-8 bytes),
   and the events between them (null: none). The same form as `fold` in stored-reply.ts, from memory. */
create or replace function fold_frames(
  p_session_num bigint, p_first_seq bigint, out content text, out ends integer[], out events jsonb
) stable language sql as $$
  select coalesce(string_agg(f.event, '' order by f.seq) filter (where f.part = 0), ''),
         coalesce(array_agg(f.ends order by f.seq) filter (where f.part = 0), '{}'),
         jsonb_agg(jsonb_build_object('seq', f.seq, 'part', f.part,
                                      'event', case when f.part > 0 then f.event::jsonb end) order by f.seq, f.part)
           filter (where f.part > 0)
    from (select x.seq, x.part, x.event,
                 sum(case when x.part = 0 then octet_length(x.event) else 0 end)
                   over (order by x.seq, x.part)::integer as ends
            from frames x where x.session_num = p_session_num and x.seq >= p_first_seq) f
$$;
