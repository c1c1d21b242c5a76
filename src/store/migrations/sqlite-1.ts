import { edges } from '../../flow/side-effect/operation.ts'

/**
 * The first schema. What must never happen is refused here, whatever the program above believes: an edge that the state
 * machine does not have, an approval used twice, two open operations for one and the same call, a changed event.
 */
export const name = '1'

export const schema = `
CREATE TABLE meta(k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE transition(a TEXT NOT NULL, b TEXT NOT NULL, PRIMARY KEY(a, b)) STRICT, WITHOUT ROWID;
INSERT INTO transition(a, b) VALUES ${edges.map(([a, b]) => `('${a}', '${b}')`).join(', ')};

CREATE TABLE operation(
  op_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  tool TEXT NOT NULL,
  effect TEXT NOT NULL CHECK(effect IN ('read', 'idempotent', 'keyed', 'once')),
  request_key TEXT,
  arguments_digest TEXT NOT NULL CHECK(length(arguments_digest) = 64),
  scopes_digest TEXT NOT NULL,
  pin TEXT NOT NULL,
  policy_version TEXT NOT NULL,
  state TEXT NOT NULL,
  standing TEXT CHECK(standing IN ('answered', 'silent')),
  acceptance TEXT NOT NULL DEFAULT 'not_required'
    CHECK(acceptance IN ('not_required', 'pending', 'met', 'not_met', 'unverifiable')),
  attempts INTEGER NOT NULL DEFAULT 0,
  upstream_key TEXT NOT NULL,
  approval TEXT,
  repeat_of TEXT,
  why TEXT,
  result_bytes INTEGER NOT NULL DEFAULT 0,
  wall_ms INTEGER NOT NULL DEFAULT 0,
  salt BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  dispatched_at INTEGER,
  next_due INTEGER
) STRICT, WITHOUT ROWID;

-- A key names one intention for ever, but for operations that are known to have had no effect and will never have one.
CREATE UNIQUE INDEX operation_key ON operation(tenant, tool, request_key)
  WHERE request_key IS NOT NULL AND state NOT IN ('expired', 'abandoned', 'denied');
-- Of one and the same call at most one may be open, or be without a known end.
CREATE UNIQUE INDEX operation_open ON operation(tenant, principal, tool, arguments_digest, scopes_digest)
  WHERE effect IN ('keyed', 'once') AND (state IN ('proposed', 'authorised', 'dispatched', 'working', 'input_required', 'held')
    OR (state = 'unknown' AND standing = 'silent'));
CREATE INDEX operation_same ON operation(tenant, principal, tool, arguments_digest, created_at)
  WHERE effect IN ('keyed', 'once');
CREATE INDEX operation_live ON operation(state)
  WHERE state IN ('proposed', 'authorised', 'dispatched', 'working', 'input_required', 'unknown', 'held', 'compensating');
CREATE INDEX operation_due ON operation(next_due) WHERE next_due IS NOT NULL;

CREATE TRIGGER operation_state BEFORE UPDATE OF state ON operation
  WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM transition WHERE a = OLD.state AND b = NEW.state)
  BEGIN SELECT RAISE(ABORT, 'illegal transition'); END;
CREATE TRIGGER operation_birth BEFORE INSERT ON operation WHEN NEW.state <> 'proposed'
  BEGIN SELECT RAISE(ABORT, 'illegal first state'); END;
CREATE TRIGGER operation_kept BEFORE DELETE ON operation BEGIN SELECT RAISE(ABORT, 'operations are kept'); END;

CREATE TABLE payload(
  op_id TEXT NOT NULL REFERENCES operation(op_id),
  role TEXT NOT NULL CHECK(role IN ('arguments', 'result')),
  body BLOB NOT NULL,
  PRIMARY KEY(op_id, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE approval(
  approval_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  tool TEXT NOT NULL,
  binding_digest TEXT NOT NULL,
  question TEXT NOT NULL,
  arguments TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('waiting', 'granted', 'denied', 'used', 'expired')),
  decided_by TEXT,
  channel TEXT,
  why TEXT,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER,
  used_by TEXT UNIQUE REFERENCES operation(op_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_binding ON approval(binding_digest, expires_at);
CREATE UNIQUE INDEX approval_open ON approval(binding_digest) WHERE state IN ('waiting', 'granted');
CREATE TRIGGER approval_state BEFORE UPDATE OF state ON approval
  WHEN NEW.state <> OLD.state AND NOT (
    (OLD.state = 'waiting' AND NEW.state IN ('granted', 'denied', 'expired')) OR
    (OLD.state = 'granted' AND NEW.state IN ('used', 'expired')))
  BEGIN SELECT RAISE(ABORT, 'illegal transition of an approval'); END;
CREATE TRIGGER approval_bound BEFORE UPDATE OF question, arguments, binding_digest ON approval
  BEGIN SELECT RAISE(ABORT, 'what was asked does not change'); END;

CREATE TABLE event(
  seq INTEGER PRIMARY KEY,
  op_id TEXT,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  record TEXT NOT NULL,
  leaf TEXT NOT NULL CHECK(length(leaf) = 64),
  -- Of a read, which has no row among the operations: what its commitments were salted with.
  salt BLOB
) STRICT;
CREATE INDEX event_operation ON event(op_id, seq) WHERE op_id IS NOT NULL;
CREATE TRIGGER event_kept BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER event_fixed BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'append only'); END;

CREATE TABLE checkpoint(size INTEGER PRIMARY KEY, root TEXT NOT NULL, note TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
`
