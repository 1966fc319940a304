-- The place of each entry in the order of commits, for those who collect the audit: `num` is taken when an entry is
-- written, and its transaction may commit after others with higher numbers.
create sequence audit_commits;
alter table audit_entries add column committed bigint;
update audit_entries e set committed = o.place
  from (select num, row_number() over (order by num) as place from audit_entries) o where o.num = e.num;
select setval('audit_commits', coalesce(max(committed), 1), max(committed) is not null) from audit_entries;
create unique index audit_entries_by_commit on audit_entries (committed);

-- The numbers are taken at the commit, one transaction after the other: who has read one has seen all before it. The row
-- is that of raise_configuration, so that two deferred triggers never wait for each other.
create function number_audit_entry() returns trigger language plpgsql as $$
begin
  perform from configuration for no key update;
  update audit_entries set committed = nextval('audit_commits') where num = new.num;
  return null;
end $$;
create constraint trigger number_audit_entry after insert on audit_entries
  deferrable initially deferred for each row execute function number_audit_entry();
