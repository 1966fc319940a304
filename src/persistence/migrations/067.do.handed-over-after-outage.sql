-- A reply that nothing could be stored of for a lease is given away when the database is back.
alter table handovers drop constraint handovers_reason_check;
alter table handovers add constraint handovers_reason_check check (reason in ('boundary', 'shutdown', 'database'));
