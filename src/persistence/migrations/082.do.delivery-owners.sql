-- Whose event a delivery tells of, as a hash of agent and user: one user's many delay no other's.
alter table webhook_deliveries add column owner bytea; -- null: it was recorded by a version without this column
