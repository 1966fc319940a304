-- Approvals hold on to tools, whatever these are called by now (contract section 25).
alter table agents
  -- What each name in `approvals` meant when it was saved, by name; a name that is missing was saved by an older version.
  add column approval_names jsonb not null default '{}';

-- Versions before this one know names alone.
update compatibility set oldest = 33;
