-- Offers of running replies are numbered by their instance: one that arrives after it was taken back, refused or taken is
-- known by its number. Null: by a version that did not number them.
alter table handovers add column number bigint;

-- Up to which number the offers of a running reply by an instance are over.
create table ended_offers (
  reply_id    uuid not null references messages on delete cascade,
  instance_id uuid not null,
  epoch       bigint not null,
  number      bigint not null,
  primary key (reply_id, instance_id, epoch)
);
