-- Steps as text, with short words: jsonb takes 4 bytes more for each word and 12 for a number, and wrote every state's name
-- twice. Rows of `steps`, from before, from older versions that run beside and from lose_replies, are read as before.
alter table step_runs
  alter column steps drop not null,
  -- [[ms, kind, from, to, event, detail], …] as JSON. ms: of the first since 1970, of the others since the first; null: at.
  -- kind: '' is a transition, n a note. A state's name begins with a dot for `streaming.`.
  add column told text,
  add constraint step_runs_told check (told is null or told::jsonb is not null) not valid; -- what cannot be read is refused

create or replace view steps as
select t.seq, t.seq as run, t.at as run_at, t.session_id, t.at, t.kind, t.from_state, t.to_state, t.event, t.message_id,
       t.instance_id, t.detail
  from transitions t
union all
select r.seq + s.n - 1, r.seq, r.at, r.session_id, coalesce(to_timestamp((s.step ->> 0)::float8 / 1000), r.at), s.step ->> 1,
       s.step ->> 2, s.step ->> 3, s.step ->> 4, r.message_id, r.instance_id, s.step -> 5
  from step_runs r cross join lateral jsonb_array_elements(r.steps) with ordinality as s (step, n)
union all
select r.seq + s.n - 1, r.seq, r.at, r.session_id,
       coalesce(to_timestamp(((s.step ->> 0)::float8 + case when s.n > 1 then (t.all_steps #>> '{0,0}')::float8 else 0 end) / 1000),
                r.at),
       case s.step ->> 1 when 'n' then 'note' else 'transition' end,
       case left(s.step ->> 2, 1) when '.' then 'streaming' else '' end || (s.step ->> 2),
       case left(s.step ->> 3, 1) when '.' then 'streaming' else '' end || (s.step ->> 3),
       s.step ->> 4, r.message_id, r.instance_id, s.step -> 5
  from step_runs r cross join lateral (select r.told::jsonb as all_steps offset 0) t
 cross join lateral jsonb_array_elements(t.all_steps) with ordinality as s (step, n);
