-- A third value: instructions are taken on the Responses API alone (contract section 32). Older versions read it as 'refuse'.
-- Agents keep the value that they have.
alter table agents
  alter column caller_instructions set default 'responses',
  drop constraint agents_caller_instructions_check,
  add constraint agents_caller_instructions_check
    check (caller_instructions in ('refuse', 'append', 'responses')) not valid;
alter table agents validate constraint agents_caller_instructions_check;
