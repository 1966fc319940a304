-- The oldest version (number of its last migration) that still runs on these tables: during a rolling upgrade, and after
-- a way back, older instances start beside newer ones. A migration that takes away or changes what older versions use
-- raises it.
create table compatibility (
  only_row boolean primary key default true check (only_row),
  oldest   integer not null
);
insert into compatibility (oldest) values (6);
