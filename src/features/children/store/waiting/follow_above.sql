-- revision 1
/* Has the replies follow that wait for a session in which nothing is left to decide: in each session above it where nothing is
   left either, below p_until (null: up to the top). They begin as queued messages do. A session that somebody is at work on is
   left to follow_children: whoever decides from above has its lock, and waits for this one's. p_by: who decided last. */
create or replace function follow_above(p_session uuid, p_until uuid, p_by text) returns void language plpgsql as $$
declare
  v_above uuid := p_session;
begin
  loop
    select c.parent_session into v_above from children c where c.session_id = v_above and not c.over;
    exit when v_above is null or v_above = p_until;
    perform 1 from sessions s where s.id = v_above and s.status = 'waiting' for no key update skip locked;
    exit when not found;
    exit when not queue_decided(v_above, p_by);
  end loop;
end $$;
