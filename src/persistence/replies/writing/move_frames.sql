-- revision 4
/* Deletes an owner's flushes up to p_upto, and keeps what its running replies have said in them as a run a reply.
   Answers the numbers of their sessions. Whoever calls it: nothing that a running reply needs is lost, and a flush is moved
   once. */
create or replace function move_frames(p_instance uuid, p_epoch bigint, p_upto bigint) returns setof bigint language sql
-- How many rows there are is not known when this is planned: a look at each running reply for each frame takes seconds.
-- (jit: see admit_messages.)
-- Flushes are taken in order, as delete_sessions takes them: by their key.
set enable_nestloop to off set enable_bitmapscan to off set enable_seqscan to off set jit to off as $$
  with gone as (
    delete from flushes l where l.instance_id = p_instance and l.epoch = p_epoch and l.num <= p_upto
    returning l.num, l.session_nums, l.seqs, l.parts, l.texts, l.at
  ), moved as (
    update instances i set moved_to = g.num from (select max(gone.num) as num from gone) g
     where i.id = p_instance and i.epoch = p_epoch and i.moved_to < g.num
  ), frame as materialized (
    select u.session_num, u.seq, u.part, u.text, g.at
      from gone g cross join unnest(g.session_nums, g.seqs, g.parts, g.texts) as u (session_num, seq, part, text)
  ), running as materialized (
    select m.session_num, m.first_seq from messages m
     where m.status = 'streaming' and m.instance_id = p_instance and m.epoch = p_epoch
  )
  insert into frame_runs (session_num, seq, part, seqs, parts, texts, at)
  select f.session_num, (array_agg(f.seq order by f.seq, f.part))[1], (array_agg(f.part order by f.seq, f.part))[1],
         array_agg(f.seq order by f.seq, f.part), array_agg(f.part order by f.seq, f.part),
         array_agg(f.text order by f.seq, f.part), max(f.at)
    from frame f join running r on r.session_num = f.session_num and f.seq >= r.first_seq
   group by f.session_num
   order by f.session_num
  -- A flush that came late brings again what a run begins with, and more, maybe.
  on conflict (session_num, seq, part) do update
    set at = greatest(frame_runs.at, excluded.at), (seqs, parts, texts) = (
      select array_agg(u.seq order by u.seq, u.part), array_agg(u.part order by u.seq, u.part),
             array_agg(u.text order by u.seq, u.part)
        from unnest(frame_runs.seqs || excluded.seqs, frame_runs.parts || excluded.parts,
                    frame_runs.texts || excluded.texts) as u (seq, part, text))
  returning session_num
$$;
