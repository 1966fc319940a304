-- A lease is a number that each renewal raises: whoever judges an owner asks whether the number has changed, by a clock of
-- its own. No statement compares clocks. lease_until is for people only: when the newest renewal runs out.
-- Older versions judge by lease_until and raise no number; they must not run beside this one.
alter table instances
  add column lease bigint not null default 0,
  alter column lease_until set default clock_timestamp();

-- Makes the epoch part of a key: a raise of it locks the row against `for key share`, the fence in every write for a reply,
-- and a renewal does not. With `for share` five seconds of waiting admissions kept an instance from renewing. A full index
-- (neither partial nor with the epoch merely included): only such a one counts for the lock.
create unique index instances_by_epoch on instances (id, epoch);

update compatibility set oldest = 12;

-- lose_replies.sql settles many at a time.
drop function if exists lose_reply(uuid, uuid);
