-- revision 4
/* Judges the limits of a request, and counts it where none is over. Called in the transaction of the admission.
   p_limits: {key: {id, …}, user: {…}, begun}, the first two with the limits that are set, as keys.limits and agents.user_limits
   hold them. begun: ids of the replies that the same statement begins; their places count, although their rows come later.
   p_user: the session's user, or the request's; null: nobody, and the user's limits do not count.
   p_mode: look (counts nothing and waits for nobody), take (counts the request and takes a place for p_reply), count (a
   message that is to wait in a queue: counts the request, holds no place), hold (a counted message begins: takes its place,
   and asks nothing). p_beside: a reply whose place does not count, since p_reply begins when it has ended; null: none.
   p_instance, p_epoch: of a stateless reply; null: the reply is a message of a session.
   Answers {over: {of, limit, most, wait}, rate: {limit, remaining, reset}}: what refuses it (absent: nothing; several: the
   longest wait), and the minute's limit with the fewest left (absent: none is set). wait and reset are in seconds. */
create or replace function judge_limits(
  p_limits jsonb, p_agent uuid, p_user text, p_reply uuid, p_mode text, p_beside uuid, p_instance uuid, p_epoch bigint
) returns jsonb language plpgsql as $$
declare
  v_begun jsonb := coalesce(p_limits -> 'begun', '[]');
  v_kinds text[] := '{}';
  v_subjects text[] := '{}';
  v_limits jsonb[] := '{}';
  v_numbers bigint[] := '{}'; -- of the newest request that was counted
  r record;
  l jsonb;
  v_subject text;
  v_now timestamptz;
  v_day date;
  v_first record; -- the oldest request of the last minute
  v_newest timestamptz;
  v_number bigint;
  v_used bigint;
  v_most bigint;
  v_use record;
  v_wait double precision;
  v_over jsonb;
  v_rate jsonb;
begin
  for r in
    select x.kind, x.subject, x.limits from (values
        ('key', p_limits #>> '{key,id}', p_limits -> 'key'), ('user', p_agent || ' ' || p_user, p_limits -> 'user'))
      as x (kind, subject, limits)
     where x.subject is not null and x.limits is not null order by x.subject
  loop
    v_number := null;
    if p_mode in ('look', 'hold') then -- both decide nothing that others must not decide at the same time
      select s.requests into v_number from limit_subjects s where s.subject = r.subject;
    else
      select s.requests into v_number from limit_subjects s where s.subject = r.subject for no key update;
      if not found then
        insert into limit_subjects (subject) values (r.subject) on conflict do nothing;
        select s.requests into v_number from limit_subjects s where s.subject = r.subject for no key update;
      end if;
    end if;
    v_kinds := v_kinds || r.kind;
    v_subjects := v_subjects || r.subject;
    v_limits := v_limits || r.limits;
    v_numbers := v_numbers || coalesce(v_number, 0);
  end loop;
  v_now := clock_timestamp(); -- behind the locks: requests are counted in the order of their times
  v_day := (v_now at time zone 'UTC')::date;

  for i in 1 .. cardinality(v_subjects) loop
    exit when p_mode = 'hold';
    v_subject := v_subjects[i];
    l := v_limits[i];

    if l ? 'requestsPerMinute' then
      v_most := (l ->> 'requestsPerMinute')::bigint;
      select q.n, q.at into v_first from limit_requests q where q.subject = v_subject order by q.n limit 1;
      if v_first.at <= v_now - interval '1 minute' or v_first.at > v_now + interval '1 minute' then -- or the clock was set back
        select q.n, q.at into v_first from limit_requests q
         where q.subject = v_subject and q.at > v_now - interval '1 minute' and q.at <= v_now + interval '1 minute'
         order by q.n limit 1;
        if p_mode <> 'look' then
          delete from limit_requests q where q.subject = v_subject and q.n < coalesce(v_first.n, v_numbers[i] + 1);
        end if;
      end if;
      v_used := coalesce(v_numbers[i] - v_first.n + 1, 0);
      v_newest := null;
      if v_used > 0 then
        select q.at into v_newest from limit_requests q where q.subject = v_subject and q.n = v_numbers[i];
      end if;
      if v_used >= v_most then
        -- The one that has to be a minute old before another may come.
        select extract(epoch from q.at + interval '1 minute' - v_now) into v_wait
          from limit_requests q where q.subject = v_subject and q.n = v_numbers[i] - v_most + 1;
        if coalesce((v_over ->> 'wait')::double precision, 0) < v_wait then
          v_over := jsonb_build_object('of', v_kinds[i], 'limit', 'requestsPerMinute', 'most', v_most, 'wait', v_wait);
        end if;
      end if;
      if v_rate is null or v_most - v_used < (v_rate ->> 'remaining')::bigint then
        v_rate := jsonb_build_object('limit', v_most, 'remaining', greatest(v_most - v_used, 0), 'reset',
          coalesce(extract(epoch from v_newest + interval '1 minute' - v_now), 0));
      end if;
    end if;

    if l ? 'concurrentReplies' and p_mode <> 'count' then
      v_most := (l ->> 'concurrentReplies')::bigint;
      select count(*) into v_used from limit_places p where p.subject = v_subject and p.reply_id is distinct from p_beside;
      if v_used >= v_most then
        -- Places of replies that have ended are cleared when they stand in the way: no reply has to give its own back.
        if p_mode <> 'look' then
          delete from limit_places p where p.subject = v_subject and not v_begun ? p.reply_id::text and not holds_place(p);
        end if;
        select count(*) into v_used from limit_places p
         where p.subject = v_subject and p.reply_id is distinct from p_beside and (v_begun ? p.reply_id::text or holds_place(p));
      end if;
      if v_used >= v_most and coalesce((v_over ->> 'wait')::double precision, 0) < 1 then
        v_over := jsonb_build_object('of', v_kinds[i], 'limit', 'concurrentReplies', 'most', v_most, 'wait', 1);
      end if;
    end if;

    if l ?| array['tokensPerDay', 'costPerMonth'] then
      select coalesce(sum(u.tokens) filter (where u.day = v_day), 0) as tokens, coalesce(sum(u.cost), 0) as cost, count(*) as rows
        into v_use from limit_usage u where u.subject = v_subject and u.day >= date_trunc('month', v_day);
      if v_use.tokens >= (l ->> 'tokensPerDay')::numeric then
        v_wait := extract(epoch from (v_day + 1)::timestamp at time zone 'UTC' - v_now);
        if coalesce((v_over ->> 'wait')::double precision, 0) < v_wait then
          v_over := jsonb_build_object(
            'of', v_kinds[i], 'limit', 'tokensPerDay', 'most', l -> 'tokensPerDay', 'wait', v_wait);
        end if;
      end if;
      if v_use.cost >= (l ->> 'costPerMonth')::numeric then
        v_wait := extract(epoch from (date_trunc('month', v_day) + interval '1 month') at time zone 'UTC' - v_now);
        if coalesce((v_over ->> 'wait')::double precision, 0) < v_wait then
          v_over := jsonb_build_object(
            'of', v_kinds[i], 'limit', 'costPerMonth', 'most', l -> 'costPerMonth', 'wait', v_wait);
        end if;
      end if;
      -- Many settlements since the last hour: the next reading is to find fewer rows.
      if p_mode <> 'look' and v_use.rows > 100 then perform fold_limit_usage(v_subject); end if;
    end if;
  end loop;

  if v_over is not null or p_mode = 'look' then
    return jsonb_strip_nulls(jsonb_build_object('over', v_over, 'rate', v_rate));
  end if;
  for i in 1 .. cardinality(v_subjects) loop
    if v_limits[i] ? 'requestsPerMinute' and p_mode <> 'hold' then
      update limit_subjects s set requests = v_numbers[i] + 1 where s.subject = v_subjects[i];
      insert into limit_requests (subject, n, at) values (v_subjects[i], v_numbers[i] + 1, v_now);
    end if;
    if v_limits[i] ? 'concurrentReplies' and p_mode <> 'count' then
      insert into limit_places (subject, reply_id, instance_id, epoch) values (v_subjects[i], p_reply, p_instance, p_epoch)
      on conflict do nothing;
    end if;
  end loop;
  if v_rate is null then return '{}'; end if;
  return jsonb_build_object('rate', v_rate || jsonb_build_object(
    'remaining', (v_rate ->> 'remaining')::bigint - 1, 'reset', 60));
end $$;
