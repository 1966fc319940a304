-- revision 1
/* Deletes what no running reply needs of the frames of these sessions: a session's next_seq is the first frame of its
   running reply, or of its next one. Without a session all goes. In order, so that two of these never deadlock.
   Many settled replies at a time: alone, each settlement paid more than twice as much for it. The frames of one reply lie
   on a hundred pages, and every transaction that comes to a page tidies up what the one before has deleted there. */
create or replace function clear_frames(p_sessions bigint[]) returns void language plpgsql as $$
declare
  v_num bigint;
begin
  for v_num in select distinct n from unnest(p_sessions) n order by n loop
    delete from frames f
     where f.session_num = v_num
       and f.seq < coalesce((select s.next_seq from sessions s where s.num = v_num), 9223372036854775807);
  end loop;
end $$;
