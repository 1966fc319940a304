-- revision 3
/* Returns the frames of a running reply from the frame p_after on, in order: what was moved, then what is in its owner's flushes.
   part: 0 a text, -1 reasoning, above an event as JSON. A flush that was sent again in parts may be stored twice.
   p_read: the owner's flush up to which the reader knows all; 0: none. Its flushes up to moved_to are gone; one that comes
   late under such a number holds nothing that was not stored under another. */
create or replace function running_frames(p_reply uuid, p_after bigint, p_read bigint)
returns table (seq bigint, part smallint, text text) stable language sql
-- Both tables may be large when a plan that was made while they were empty is still in use. (jit: see admit_messages.)
set enable_seqscan to off set jit to off as $$
  select distinct on (f.seq, f.part) f.seq, f.part, f.text
    from messages m cross join lateral (
      select u.seq, u.part, u.text
        from frame_runs r cross join unnest(r.seqs, r.parts, r.texts) as u (seq, part, text)
       where r.session_num = m.session_num and r.seq >= m.first_seq and r.last_seq >= greatest(m.first_seq, p_after)
      union all
      select u.seq, u.part, u.text
        from flushes l cross join unnest(l.session_nums, l.seqs, l.parts, l.texts) as u (session_num, seq, part, text)
       where l.instance_id = m.instance_id and l.epoch = m.epoch
         and l.num > greatest(p_read, (
           select i.moved_to from instances i where i.id = m.instance_id and i.epoch = m.epoch))
         and m.session_num = any(l.session_nums) and u.session_num = m.session_num
    ) f
   where m.id = p_reply and f.seq >= greatest(m.first_seq, p_after)
   order by f.seq, f.part
$$;
