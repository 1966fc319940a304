-- revision 3
/* Returns the frames of a running reply as its message will keep them: the text, where each numbered frame ends in it (UTF-8
   bytes), the events between them, and the reasoning with the numbered frames that it came in (counted from the role
   frame) and where each of these ends in it; null: there is none. The same form as `fold` in stored-reply.ts, from memory. */
create or replace function fold_frames(
  p_reply uuid, out content text, out ends integer[], out events jsonb,
  out reasoning text, out reasoning_frames integer[], out reasoning_ends integer[]
) stable language plpgsql as $$
#variable_conflict use_column
begin
  select coalesce(string_agg(f.text, '' order by f.seq) filter (where f.part = 0), ''),
         coalesce(array_agg(f.ends order by f.seq) filter (where f.part <= 0), '{}'),
         jsonb_agg(jsonb_build_object('seq', f.seq, 'part', f.part,
                                      'event', case when f.part > 0 then f.text::jsonb end) order by f.seq, f.part)
           filter (where f.part > 0),
         string_agg(f.text, '' order by f.seq) filter (where f.part < 0),
         array_agg((f.seq - m.first_seq)::integer order by f.seq) filter (where f.part < 0),
         array_agg(f.thought_ends order by f.seq) filter (where f.part < 0)
    into content, ends, events, reasoning, reasoning_frames, reasoning_ends
    from messages m cross join lateral (
      select x.seq, x.part, x.text,
             coalesce((sum(octet_length(x.text)) filter (where x.part = 0) over before_it)::integer, 0) as ends,
             (sum(octet_length(x.text)) filter (where x.part < 0) over before_it)::integer as thought_ends
        from running_frames(p_reply, 0, 0) x
      window before_it as (order by x.seq, x.part)) f
   where m.id = p_reply;
end $$;
