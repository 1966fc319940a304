-- revision 1
/* Settles a reply whose owner was declared lost. Answers {untitled}: whether its session has no title yet, for the caller
   to derive one. Null: it was settled before, or its owner still holds its epoch. */
create or replace function lose_reply(p_reply uuid, p_by uuid) returns jsonb language plpgsql as $$
declare
  r record;
  v_before text;
begin
  select m.session_id, m.session_num, m.instance_id, m.epoch, m.created_at, m.position into r
    from messages m where m.id = p_reply and m.status = 'streaming';
  if not found then return null; end if;
  perform 1 from instances i where i.id = r.instance_id and i.epoch = r.epoch for share;
  if found then return null; end if;
  perform 1 from sessions s where s.id = r.session_id for update;
  perform 1 from messages m where m.id = p_reply and m.status = 'streaming';
  if not found then return null; end if;

  perform fold_reply(
    p_reply,
    jsonb_build_object(
      'finish_reason', 'error', 'error_code', 'instance_lost',
      'error_message', 'The instance that generated this reply was lost.',
      'error_detail', 'The instance that generated this reply was lost.',
      'ended_at', clock_timestamp(), 'requester_lost', true),
    null, null, null);
  delete from frames f where f.session_num = r.session_num;

  -- The owner records its steps in batches: the last ones may have died with it.
  select t.to_state into v_before from transitions t where t.message_id = p_reply order by t.seq desc limit 1;
  if v_before is null then
    select case when m.status = 'error' then 'error' when m.finish_reason = 'cancelled' then 'cancelled' else 'complete' end
      into v_before from messages m
     where m.session_id = r.session_id and m.role = 'assistant' and m.position < r.position
     order by m.position desc limit 1;
    insert into transitions (session_id, at, from_state, to_state, event, message_id, instance_id)
    values (r.session_id, r.created_at, coalesce(v_before, 'idle'), 'streaming.generating', 'message', p_reply, r.instance_id);
    v_before := 'streaming.generating';
  end if;
  if v_before like 'streaming%' then
    insert into transitions (session_id, at, from_state, to_state, event, message_id, instance_id, detail)
    values (r.session_id, clock_timestamp(), v_before, 'error', 'lost', p_reply, p_by, '{"code": "instance_lost"}');
  end if;

  return (select jsonb_build_object('untitled', s.title is null) from sessions s where s.id = r.session_id);
end $$;
