-- How many lists of sessions that live a subject follows on each instance: a user with an agent, or a key (contract section 35).
create table followed_lists (
  subject     text not null,
  instance_id uuid not null,
  epoch       bigint not null, -- once it is over, the instance's lists are too
  number      bigint not null, -- of the statement that stored it, which an earlier one that comes later does not change
  lists       integer not null,
  primary key (subject, instance_id)
);
