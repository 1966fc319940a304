-- A flush is one row, whatever it holds. A row and an index entry a frame, and their deletion, were three quarters of the
-- WAL that a token wrote.

-- What instances stored of late. No foreign keys: one deleted session must not lose a whole flush.
create table flushes (
  instance_id  uuid not null,
  epoch        bigint not null,
  num          bigint not null, -- rises from flush to flush
  -- One element a frame, in all four alike.
  session_nums bigint[] not null, -- session numbers are never reused
  seqs         bigint[] not null,
  parts        smallint[] not null, -- 0: a numbered frame of text; -1: one of reasoning; 1…: events that lie after it
  texts        text[] not null,     -- 1…: the event as JSON
  primary key (instance_id, epoch, num)
) with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

-- What replies that run for longer said before: moved here from the flushes, so that these stay few (move_frames). Settling
-- folds both into the message; they are deleted soon after.
create table frame_runs (
  session_num bigint not null,
  seq         bigint not null, -- of its first frame
  part        smallint not null,
  seqs        bigint[] not null,
  parts       smallint[] not null,
  texts       text[] not null,
  primary key (session_num, seq, part)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

-- What an older version stores meanwhile would be dropped unread: it fails at our commit instead, and is not shown.
lock table frames in access exclusive mode;
insert into frame_runs (session_num, seq, part, seqs, parts, texts)
select f.session_num, (array_agg(f.seq order by f.seq, f.part))[1], (array_agg(f.part order by f.seq, f.part))[1],
       array_agg(f.seq order by f.seq, f.part), array_agg(f.part order by f.seq, f.part),
       array_agg(f.text order by f.seq, f.part)
  from (select x.session_num, x.seq, case when x.reasoning is null then x.part else -1::smallint end as part,
               coalesce(x.reasoning, x.event) as text from frames x) f
  join messages m on m.session_num = f.session_num and m.status = 'streaming' and f.seq >= m.first_seq
 group by f.session_num;

drop table frames;
drop function if exists fold_frames(bigint, bigint);
drop function if exists fold_reasoning(bigint, bigint);
drop function if exists delete_session(uuid, uuid);
delete from definitions where name in ('fold_reasoning', 'delete_session');

-- Versions before this one store frames where there is no table any more.
update compatibility set oldest = 24;
