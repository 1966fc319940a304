-- Sessions that were deleted before their call had its result: none is made anew for it. Rows go when the reply that made the call is over.
create table gone_children (
  session_id     uuid primary key,
  parent_session uuid not null,
  parent_reply   uuid not null
);
