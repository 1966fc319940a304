-- What the job of session-status.ts has to do; empty afterwards.
create index concurrently sessions_without_status on sessions (num)
 where status is null
