-- revision 4
/* Ends the children of replies that do not go on: those that run are asked to end, at all depths at once, what those ask that
   wait is rejected, those that have not begun are removed. Called once a second, and again until none is left. Returns the replies that are to end, with the
   instances that run them. */
create or replace function end_children() returns table (reply_id uuid, instance_id uuid) language plpgsql as $$
declare
  v_below uuid[];
  v_unbegun uuid[];
begin
  delete from gone_children g where not may_go_on_with_children(g.parent_session, g.parent_reply);
  perform 1 from children c where not c.over;
  if not found then return; end if;
  with recursive below as (
    select c.session_id from children c
     where not c.over and not may_go_on_with_children(c.parent_session, c.parent_reply)
    union
    select c.session_id from below b join children c on c.parent_session = b.session_id and not c.over
  )
  select array_agg(b.session_id) into v_below from below b;
  if v_below is null then return; end if;

  select array_agg(q.session_id) into v_unbegun from queued_messages q
   where q.session_id = any(v_below) and q.rank = 3 and q.admission is null;
  if v_unbegun is not null then perform delete_sessions(null, v_unbegun); end if;
  perform drop_waiting(s.id, null)
     from (select x.id from sessions x where x.id = any(v_below) and x.status = 'waiting' order by x.id) s;
  -- One that has not begun and was not removed yet is removed the next time.
  update children c set over = true
   where c.session_id = any(v_below)
     and not exists (select from messages m where m.session_id = c.session_id and m.status = 'streaming')
     and not exists (select from queued_messages q where q.session_id = c.session_id and q.rank = 3 and q.admission is null);
  return query
    with running as materialized (
      select m.id, m.session_id, m.instance_id from messages m
       where m.session_id = any(v_below) and m.status = 'streaming' for share
    ), told as (
      insert into intents (instance_id, kind, session_id, reply_id)
      select r.instance_id, 'cancel', r.session_id, r.id from running r
       where not exists (select from intents i where i.reply_id = r.id and i.kind = 'cancel')
    )
    select r.id, r.instance_id from running r;
end $$;
