-- Approvals that expire: after so many seconds, from the end of the reply that asked. Null: never.
alter table agents add column approvals_expire_after_s integer;
alter table waits add column expires_at timestamptz;
create index waits_by_expiry on waits (expires_at) where expires_at is not null;
