import { errorKinds } from '../../flow/side-effect/error-kind.ts'

/**
 * Attempts and their legs as rows. What must never happen is refused here too: a second attempt while one is open, and
 * another attempt of an operation whose earlier one may have run and about which nothing else has been proved.
 */
export const name = '2-attempts'

export const schema = `
ALTER TABLE operation ADD COLUMN error_kind TEXT;
ALTER TABLE operation ADD COLUMN receipt_ref TEXT;
ALTER TABLE operation ADD COLUMN reverses TEXT REFERENCES operation(op_id);
ALTER TABLE operation ADD COLUMN compensated_by TEXT REFERENCES operation(op_id);
ALTER TABLE operation ADD COLUMN conversation TEXT;

CREATE TABLE attempt(
  op_id TEXT NOT NULL REFERENCES operation(op_id),
  n INTEGER NOT NULL CHECK(n >= 1),
  leg INTEGER NOT NULL DEFAULT 1 CHECK(leg >= 1),
  upstream_key TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL,
  -- From the intent on it may have left; only a proof makes it 'no', and only an answer 'yes'.
  sent TEXT NOT NULL DEFAULT 'maybe' CHECK(sent IN ('no', 'maybe', 'yes')),
  task_ref TEXT,
  ended_at INTEGER,
  outcome TEXT,
  error_kind TEXT CHECK(error_kind IN (${errorKinds.map((kind) => `'${kind}'`).join(', ')})),
  PRIMARY KEY(op_id, n, leg)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX attempt_open ON attempt(op_id) WHERE ended_at IS NULL;
CREATE TRIGGER attempt_kept BEFORE DELETE ON attempt BEGIN SELECT RAISE(ABORT, 'attempts are kept'); END;
CREATE TRIGGER attempt_over BEFORE UPDATE ON attempt WHEN OLD.ended_at IS NOT NULL AND NEW.outcome IS NOT 'none'
  BEGIN SELECT RAISE(ABORT, 'an attempt ends once'); END;
CREATE TRIGGER attempt_again BEFORE INSERT ON attempt
  WHEN EXISTS (SELECT 1 FROM attempt WHERE op_id = NEW.op_id AND n < NEW.n AND sent <> 'no' AND outcome IS NOT 'none')
  BEGIN SELECT RAISE(ABORT, 'an earlier attempt may have run'); END;

-- What a call with an effect may be on its way under has an attempt; the last of a dispatched one is open.
CREATE TRIGGER operation_dispatched BEFORE UPDATE OF state ON operation
  WHEN NEW.state = 'dispatched' AND OLD.state <> 'dispatched'
    AND NOT EXISTS (SELECT 1 FROM attempt WHERE op_id = NEW.op_id AND ended_at IS NULL)
  BEGIN SELECT RAISE(ABORT, 'dispatched without an attempt'); END;
`
