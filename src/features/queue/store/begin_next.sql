-- revision 2
/* The one place where a queued message begins: called by every statement that settles a reply, in its transaction, and by
   tend_queues for sessions in which nothing runs. The caller holds the session's lock. Answers the id of the reply that it
   opened; null when nothing is to begin, or not on this instance.
   The agent is as it is now. A place that is gone meanwhile is noted as fault, for the reply to end with it. */
create or replace function begin_next(p_instance uuid, p_epoch bigint, p_session uuid) returns uuid
language plpgsql as $$
declare
  s record;
  a record;
  q record;
  v_overrides jsonb;
  v_message jsonb;
  v_answer jsonb;
  v_fault text;
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch and i.begins_queued for key share;
  if not found then return null; end if;
  select x.agent_id, x.status into s from sessions x where x.id = p_session;
  select x.* into q from queued_messages x
   where x.session_id = p_session and x.admission is null order by x.rank, x.num limit 1;
  -- Calls that wait are rejected by what steers or interrupts; what was only queued waits with them.
  if q.id is null or s.status = 'streaming' or (s.status = 'waiting' and q.rank = 2) then return null; end if;

  -- Absent: stored before there were versions, in the form of the first.
  if (q.message ->> 'version')::integer > 1 then
    raise exception 'a queued message has the version %, which is not known', q.message ->> 'version';
  end if;
  v_overrides := q.message -> 'facts' -> 'overrides';
  if jsonb_typeof(v_overrides) is distinct from 'object' then v_overrides := '{}'; end if;
  select coalesce(v_overrides ->> 'model', x.model) as model,
         coalesce((v_overrides ->> 'providerId')::uuid, x.provider_id) as provider_id,
         case when v_overrides ->> 'systemPrompt' is null then coalesce((v_overrides ->> 'promptId')::uuid, x.prompt_id) end
           as prompt_id
    into a from agents x where x.id = s.agent_id;
  v_message := q.message || jsonb_build_object(
    'agent_id', s.agent_id, 'session_id', p_session, 'user_id', q.id, 'reply_id', q.reply_id, 'model', a.model,
    'may_start', true, 'is_queued', true, 'uses_values', true,
    'facts', coalesce(nullif(q.message -> 'facts', 'null'), '{}') || jsonb_build_object(
      'queued', true, 'providerId', a.provider_id,
      'prompt', (select jsonb_build_object('id', p.id, 'name', p.name,
                                           'sha256', encode(sha256(convert_to(p.content, 'UTF8')), 'hex'))
                   from prompts p where p.id = a.prompt_id)));
  v_answer := admit_message(p_instance, p_epoch, v_message, q.content);
  if v_answer ->> 'outcome' in ('unknown_parent', 'unknown_message', 'nothing_to_answer') then
    v_fault := v_answer ->> 'outcome';
    v_answer := admit_message(p_instance, p_epoch, v_message - 'place', q.content);
  end if;
  if v_answer ->> 'outcome' <> 'admitted' then return null; end if;
  update queued_messages x
     set instance_id = p_instance, epoch = p_epoch, admission = v_answer || jsonb_build_object('version', 1, 'fault', v_fault)
   where x.id = q.id;
  update sessions x set queued = greatest(x.queued - 1, 0) where x.id = p_session;
  return q.reply_id;
end $$;
