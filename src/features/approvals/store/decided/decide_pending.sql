-- revision 7
/* Decides calls that are pending in a session whose newest reply is p_wait. Such a call stays open until the reply that follows
   begins (take_decided). The caller holds the session's lock, and marks the sessions above it (mark_above). Returns how many are left to decide.
   Raises GR409 when that reply waits no more, or one of these calls is not pending: another decider was first.
   p_decisions: [{id, decision, arguments, output, reason, key, content, remember, session}]; key: of a question, see answer_questions;
   remember: see remember_decisions; session: that asks, where it is one below (see decide_below). */
create or replace function decide_pending(p_session uuid, p_wait uuid, p_decisions jsonb, p_by text) returns integer
language plpgsql as $$
declare
  v_decided integer;
  v_left integer;
  v_answered integer := 0;
  v_below integer := 0;
begin
  perform 1 from waits w where w.session_id = p_session and w.reply_id = p_wait;
  if not found then raise exception 'nothing waits' using errcode = 'GR409'; end if;
  if p_decisions @? '$[*].session' then
    v_below := decide_below(p_session, p_decisions, p_by);
    p_decisions := jsonb_path_query_array(p_decisions, '$[*] ? (!exists(@.session))');
  end if;
  if jsonb_path_exists(p_decisions, '$[*].key') then
    v_answered := answer_questions(p_session, p_decisions, p_by);
  end if;
  update waiting_calls c
     set decision = d.decision, decided_at = clock_timestamp(), decided_by = p_by, decided_arguments = d.arguments,
         output = d.output, reason = d.reason
    from jsonb_to_recordset(p_decisions) as d(id text, decision text, arguments text, output text, reason text)
   where c.session_id = p_session and c.open and c.decision is null and c.kind <> 'input' and c.call_id = d.id
     and (c.reply_id, c.place) in (select p.reply_id, p.place from pending_calls(p_session) p);
  get diagnostics v_decided = row_count;
  if v_decided + v_answered <> jsonb_array_length(p_decisions) then
    raise exception 'decisions do not fit what is pending' using errcode = 'GR409';
  end if;
  if p_decisions @? '$[*].remember' then perform remember_decisions(p_session, p_decisions, p_by); end if;
  select count(*) into v_left from pending_entries(p_session);
  if v_left > 0 then
    -- Older versions would lose what is decided. They lead no session that they know nothing of.
    update compatibility set oldest = 85 where oldest < 85;
    -- Those who follow the list are sent the session, whose place in it stays.
    update sessions set change = nextval('session_changes') where id = p_session;
  end if;
  return v_left;
end $$;
