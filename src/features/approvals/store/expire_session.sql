-- revision 3
/* Rejects what is undecided of a session whose approvals have expired. The caller holds the session's lock. Returns the id of
   the reply that has begun here. Null: none has, or another statement was first. */
create or replace function expire_session(p_instance uuid, p_epoch bigint, p_session uuid) returns uuid
language plpgsql as $$
declare
  v_expired integer;
begin
  -- Read behind the lock: what was due may have been decided meanwhile.
  update waits w set expires_at = null where w.session_id = p_session and w.expires_at <= clock_timestamp();
  if not found then return null; end if;
  with expired as (
    update waiting_calls c set decision = 'expired', decided_at = clock_timestamp(), decided_by = null
     where c.session_id = p_session and c.open and c.decision is null and c.kind = 'approval'
    returning c.call_id, c.name
  ), noted as (
    insert into audit_entries (actor, actor_kind, action, kind, record_id, record_name, changes)
    select null, 'system', 'decide', 'call', e.call_id, e.name,
           jsonb_build_object('decision', jsonb_build_object('from', null, 'to', 'expired'))
      from expired e
  )
  select count(*) into v_expired from expired;
  if v_expired = 0 then return null; end if;
  return follow_decided(p_instance, p_epoch, p_session, null);
end $$;
