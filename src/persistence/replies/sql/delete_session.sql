-- revision 3
/* Removes a session with all that belongs to it; tells the owner of its running reply. False: no such session. */
create or replace function delete_session(p_agent uuid, p_session uuid) returns boolean language plpgsql as $$
declare
  v_num bigint;
  v_contents bytea[];
begin
  select s.num into v_num from sessions s where s.id = p_session and s.agent_id = p_agent for update;
  if not found then return false; end if;
  insert into intents (instance_id, kind, session_id, reply_id)
  select m.instance_id, 'delete', p_session, m.id from messages m
   where m.session_id = p_session and m.status = 'streaming';
  -- What its running reply has said lies among what others have. Where somebody else is at work on that, its owner deletes
  -- it in a few seconds.
  update flushes l
     set (session_nums, seqs, parts, texts) = (
       select coalesce(array_agg(u.session_num order by u.n), '{}'), coalesce(array_agg(u.seq order by u.n), '{}'),
              coalesce(array_agg(u.part order by u.n), '{}'), coalesce(array_agg(u.text order by u.n), '{}')
         from unnest(l.session_nums, l.seqs, l.parts, l.texts) with ordinality as u (session_num, seq, part, text, n)
        where u.session_num <> v_num)
    from (select x.instance_id, x.epoch, x.num
            from messages m join flushes x on x.instance_id = m.instance_id and x.epoch = m.epoch
           where m.session_id = p_session and m.status = 'streaming' and v_num = any(x.session_nums)
             for update of x skip locked) o
   where l.instance_id = o.instance_id and l.epoch = o.epoch and l.num = o.num;
  with gone as (delete from message_parts p where p.session_id = p_session returning p.sha256)
  select array_agg(distinct g.sha256) into v_contents from gone g;
  delete from sessions s where s.id = p_session;
  delete from frame_runs f where f.session_num = v_num;
  if v_contents is not null then perform forget_parts(v_contents); end if;
  return true;
end $$;
