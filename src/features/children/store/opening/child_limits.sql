-- revision 1
/* Returns what the use of a child counts for, and the limit that is used up: of the key that began the top session's reply
   (p_key; null: none), and of the user (null: nobody) with the child's agent and with that of the top session. Requests a minute
   and replies at a time neither count nor refuse children. counts: as in facts; null: nothing. over: of judge_limits. */
create or replace function child_limits(p_key text, p_agent uuid, p_top uuid, p_user text, out counts jsonb, out over jsonb)
language plpgsql as $$
declare
  v_own jsonb; -- limits of the user
  v_top jsonb;
  v_key jsonb;
begin
  if p_user is not null then
    select a.user_limits into v_own from agents a where a.id = p_agent;
    if p_top <> p_agent then select a.user_limits into v_top from agents a where a.id = p_top; end if;
  end if;
  if p_key is null and v_own is null and v_top is null then return; end if;
  counts := jsonb_strip_nulls(jsonb_build_object(
    'key', p_key, 'user', case when v_own is not null then true end, 'top', case when v_top is not null then p_top end));
  if p_key is not null then select k.limits into v_key from keys k where k.id = p_key::uuid; end if;
  over := judge_limits(
    jsonb_strip_nulls(jsonb_build_object(
      'key', (v_key - array['requestsPerMinute', 'concurrentReplies']) || jsonb_build_object('id', p_key),
      'user', v_own - array['requestsPerMinute', 'concurrentReplies'])),
    p_agent, p_user, null, 'look', null, null, null) -> 'over';
  if over is null and v_top is not null then
    over := judge_limits(jsonb_build_object('user', v_top - array['requestsPerMinute', 'concurrentReplies']),
                         p_top, p_user, null, 'look', null, null, null) -> 'over';
  end if;
end $$;
