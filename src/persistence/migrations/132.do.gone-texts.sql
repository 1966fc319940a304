-- The text of a deleted session so far, for the call that it answered.
alter table gone_children add column content text;
