-- revision 1
/* Rejects approvals whose time is over, in p_limit sessions at most, and has the replies begin that follow. Sessions that
   somebody is at work on are left to the next look. Only an instance on which messages begin does it. Returns the ids of the
   replies that have begun here. */
create or replace function expire_approvals(p_instance uuid, p_epoch bigint, p_limit integer) returns setof uuid
language plpgsql as $$
declare
  v_session uuid;
  v_reply uuid;
begin
  perform 1 from waits w where w.expires_at <= clock_timestamp() limit 1;
  if not found then return; end if;
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch and i.begins_queued for key share;
  if not found then return; end if;
  for v_session in
    select s.id
      from (select w.session_id from waits w where w.expires_at <= clock_timestamp() order by w.expires_at limit p_limit) w
     cross join lateral (
       select x.id from sessions x where x.id = w.session_id and x.status = 'waiting' for no key update skip locked) s
  loop
    v_reply := expire_session(p_instance, p_epoch, v_session);
    if v_reply is not null then return next v_reply; end if;
  end loop;
end $$;
