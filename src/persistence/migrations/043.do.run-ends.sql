-- A look for what is new in a running reply costs the same however long that is: runs are found by their end, without
-- being read, and flushes from the first that may still be there on, without passing over those that were deleted
-- while something holds an old snapshot.
alter table frame_runs add column last_seq bigint generated always as (seqs[cardinality(seqs)]) stored; -- its last frame
create index frame_runs_by_end on frame_runs (session_num, last_seq);
alter table instances add column moved_to bigint not null default 0; -- the newest flush that was moved and deleted
