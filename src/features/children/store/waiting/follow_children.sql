-- revision 1
/* Has the replies follow that wait for children of which none asks anything any more: one was decided while its parent came to
   wait, or has ended otherwise. Called once a second. */
create or replace function follow_children() returns void language plpgsql as $$
declare
  v_session uuid;
begin
  for v_session in
    select distinct c.session_id from waiting_calls c
     where c.open and c.kind = 'child'
       and not exists (select from children k join sessions s on s.id = k.session_id
                        where k.parent_reply = c.reply_id and k.place = c.place and s.status = 'waiting')
  loop
    continue when exists (select from pending_entries(v_session));
    perform 1 from sessions s where s.id = v_session and s.status = 'waiting' for no key update skip locked;
    continue when not found;
    if queue_decided(v_session, null) then perform follow_above(v_session, null, null); end if;
  end loop;
end $$;
