-- revision 9
/* Removes sessions with all that belongs to them, and with those below them; tells the owners of their running replies and compactions. Answers the ids of those that
   there were. p_agent: whose they must be; null: anybody's. */
create or replace function delete_sessions(p_agent uuid, p_sessions uuid[]) returns setof uuid language plpgsql as $$
declare
  v_own uuid[] := array(select s.id from sessions s where s.id = any(p_sessions) and (p_agent is null or s.agent_id = p_agent));
  v_ids uuid[];
  v_below boolean; -- one of them has a parent
  v_nums bigint[];
  v_running bigint[];
  v_owners uuid[];
  v_epochs bigint[];
  v_contents bytea[];
begin
  loop -- until no session has come below them while their locks were waited for
    select array_agg(l.id), array_agg(l.num), bool_or(l.has_parent) into v_ids, v_nums, v_below
      from (select s.id, s.num, s.parent is not null as has_parent from sessions s
             where s.id = any(v_own || sessions_below(v_own))
             order by s.num for update) l;
    exit when sessions_below(v_ids) = '{}';
  end loop;
  if v_ids is null then return; end if;
  if v_below then perform leave_parents(v_ids); end if;
  if exists (select from webhooks w where w.enabled) then perform tell_deleted(v_ids); end if;
  with running as (
    select m.id, m.session_id, m.session_num, m.instance_id, m.epoch from messages m
     where m.session_id = any(v_ids) and m.status = 'streaming'
  ), told as (
    insert into intents (instance_id, kind, session_id, reply_id)
    select r.instance_id, 'delete', r.session_id, r.id from running r
  )
  select array_agg(r.session_num), array_agg(r.instance_id), array_agg(r.epoch) into v_running, v_owners, v_epochs
    from running r;
  insert into intents (instance_id, kind, session_id, reply_id)
  select (s.compaction ->> 'instance_id')::uuid, 'delete', s.id, (s.compaction ->> 'id')::uuid
    from sessions s where s.id = any(v_ids) and s.compaction is not null;
  with gone as (delete from message_parts p where p.session_id = any(v_ids) returning coalesce(p.stored_as, p.sha256) as sha256)
  select array_agg(distinct g.sha256) into v_contents from gone g;
  delete from sessions s where s.id = any(v_ids);

  -- What their running replies have said lies among what others have: each flush is written once for all of them, at the
  -- end, since its owner waits for us to move it. In order, as move_frames, so that nobody deadlocks. What it moved
  -- meanwhile is seen by the deletion below.
  if v_running is not null then
    update flushes l
       set (session_nums, seqs, parts, texts) = (
         select coalesce(array_agg(u.session_num order by u.n), '{}'), coalesce(array_agg(u.seq order by u.n), '{}'),
                coalesce(array_agg(u.part order by u.n), '{}'), coalesce(array_agg(u.text order by u.n), '{}')
           from unnest(l.session_nums, l.seqs, l.parts, l.texts) with ordinality as u (session_num, seq, part, text, n)
          where u.session_num <> all(v_running))
      from (select x.instance_id, x.epoch, x.num from flushes x
             where (x.instance_id, x.epoch) in (select o.id, o.epoch from unnest(v_owners, v_epochs) as o (id, epoch))
               and x.session_nums && v_running
             order by x.instance_id, x.epoch, x.num for update) o
     where l.instance_id = o.instance_id and l.epoch = o.epoch and l.num = o.num;
  end if;
  delete from frame_runs f where f.session_num = any(v_nums);
  if v_contents is not null then perform forget_parts(v_contents); end if;
  return query select unnest(v_ids);
end $$;
