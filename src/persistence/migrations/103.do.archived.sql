-- Marked by a change of the session alone. Nothing but the filter of lists reads it.
alter table sessions add column archived boolean not null default false;
