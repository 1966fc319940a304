-- Web pages of these origins may call the agent's deploy API (contract section 11).
alter table agents add column allowed_origins text[] not null default '{}';

-- Numbers every client secret and every revocation, in one order: a secret whose number lies below its user's newest
-- revocation is refused. Whoever takes a number later has a higher one, whatever the clocks of the instances say.
create sequence client_secret_numbers;

-- Users whose secrets were revoked. Instances poll it; a row is of no use once its secrets have expired (two hours).
create table revocations (
  agent_id   uuid not null references agents on delete cascade,
  end_user  text not null,
  number     bigint not null,
  -- Of the transaction that wrote the row: numbers become visible out of order, so the poll asks for all that may have
  -- been committed since its last snapshot.
  xact       xid8 not null default pg_current_xact_id(),
  revoked_at timestamptz not null default clock_timestamp(),
  primary key (agent_id, end_user)
);
create index revocations_by_xact on revocations (xact);
create index revocations_by_time on revocations (revoked_at);
