-- revision 2
/* Deletes what no running reply needs of the runs of these sessions: a session's next_seq is the first frame of its
   running reply, or of its next one. Without a session all goes. */
create or replace function clear_frames(p_sessions bigint[]) returns void language sql as $$
  delete from frame_runs r
   where r.session_num = any(p_sessions)
     and r.seq < coalesce((select s.next_seq from sessions s where s.num = r.session_num), 9223372036854775807)
$$;
