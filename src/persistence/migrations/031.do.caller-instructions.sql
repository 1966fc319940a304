-- Whether a request's own system messages follow the agent's prompt (contract section 25). Older versions refuse them.
alter table agents
  add column caller_instructions text not null default 'refuse' check (caller_instructions in ('refuse', 'append'));
