-- Steps of a reply in one row, with what its models were sent: as rows of their own they were two fifths of the WAL that a
-- short reply writes. Rows of `transitions` and `model_requests`, from before and from older versions that run beside, are
-- read as long as they are kept.
-- Every row has 64 numbers of the sequence that older versions take one of: its steps are numbered from seq on.
alter table transitions alter column seq set increment by 64;

create table step_runs (
  session_id  uuid not null,
  seq         bigint not null default nextval('transitions_seq_seq'), -- of its first step
  message_id  uuid,
  instance_id uuid not null,
  at          timestamptz not null, -- of its last step
  steps       jsonb not null, -- [[ms, kind, from, to, event, detail], …], 64 at most; ms null: at
  requests    jsonb,          -- [[turn, ms, provider id, model, body, history from, left], …]; null: there is none
  primary key (session_id, seq)
);
create index step_runs_by_time on step_runs (at);

-- All steps, in whichever form. run, run_at: of the row that a step is stored in, for conditions that an index answers.
create view steps as
select t.seq, t.seq as run, t.at as run_at, t.session_id, t.at, t.kind, t.from_state, t.to_state, t.event, t.message_id,
       t.instance_id, t.detail
  from transitions t
union all
select r.seq + s.n - 1, r.seq, r.at, r.session_id, coalesce(to_timestamp((s.step ->> 0)::float8 / 1000), r.at), s.step ->> 1,
       s.step ->> 2, s.step ->> 3, s.step ->> 4, r.message_id, r.instance_id, s.step -> 5
  from step_runs r cross join lateral jsonb_array_elements(r.steps) with ordinality as s (step, n);

create or replace function forget_steps() returns trigger language plpgsql
-- How many sessions there are is not known when this is planned; the tables may be large, and are entered by their keys.
-- (What is off must not be compiled, see admit_messages.)
set enable_seqscan to off set enable_hashjoin to off set enable_mergejoin to off set jit to off as $$
begin
  delete from transitions t using gone g where t.session_id = g.id;
  delete from model_requests r using gone g where r.session_id = g.id;
  delete from step_runs r using gone g where r.session_id = g.id;
  return null;
end $$;
