/**
 * What was sent and answered is sealed, under a key of the principal's that lies outside this file. Salts are derived from
 * that key, and stand nowhere.
 */
export const name = '3'

export const schema = `
DROP TABLE payload;
CREATE TABLE payload(
  op_id TEXT NOT NULL REFERENCES operation(op_id),
  role TEXT NOT NULL CHECK(role IN ('arguments', 'result')),
  key_id TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY(op_id, role)
) STRICT, WITHOUT ROWID;
ALTER TABLE event DROP COLUMN salt;
ALTER TABLE checkpoint DROP COLUMN at;
`
