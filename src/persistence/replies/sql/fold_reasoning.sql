-- revision 1
/* The reasoning in the frames of a running reply as its message will keep it: all of it, the numbered frames that it came
   in (counted from the role frame) and where each ends in it (UTF-8 bytes). Null: there is none. Beside fold_frames. */
create or replace function fold_reasoning(
  p_session_num bigint, p_first_seq bigint, out reasoning text, out frames integer[], out ends integer[]
) stable language sql as $$
  select string_agg(f.reasoning, '' order by f.seq), array_agg((f.seq - p_first_seq)::integer order by f.seq),
         array_agg(f.ends order by f.seq)
    from (select x.seq, x.reasoning, sum(octet_length(x.reasoning)) over (order by x.seq)::integer as ends
            from frames x
           where x.session_num = p_session_num and x.seq >= p_first_seq and x.reasoning is not null) f
$$;
