-- The text that models are sent in place of a content: a document's (contract section 32). It goes with its content.
create table part_texts (
  sha256 bytea primary key references part_contents on delete cascade, -- the key of the content
  size   integer not null,
  text   bytea not null -- UTF-8
);
alter table part_texts alter column text set storage external; -- it is read a piece at a time
