import type { FileSchema } from '@skerry/store'

/**
 * scope: what is copied, and up to which revision. object: its objects; `sum` is a CRC-32 of the value, which SQLite
 * does not check. single: objects that callers got by name. document: answers that are not objects, such as
 * discovery. reader: what somebody could read when the control plane was asked last. fact: the keys of tokens.
 */
const versionOne = `
  CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    read_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE object (
    scope INTEGER NOT NULL,
    key TEXT NOT NULL,
    uid TEXT NOT NULL,
    revision INTEGER NOT NULL,
    value BLOB NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
  ) STRICT;
  CREATE TABLE single (
    key TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    read_at INTEGER NOT NULL,
    value BLOB NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE document (
    key TEXT PRIMARY KEY,
    read_at INTEGER NOT NULL,
    headers TEXT NOT NULL,
    value BLOB NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE reader (
    key TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    checked_at INTEGER NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE fact (name TEXT PRIMARY KEY, text TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES ('isOpen', 0);
`

/** ahead: 1 if the copy contains changes of this node that the control plane's history does not have. */
const versionTwo = 'ALTER TABLE scope ADD COLUMN ahead INTEGER NOT NULL DEFAULT 0'

/** The copies of a node ("SKRN" in the header of the file). Damage costs nothing but another copy. */
export const copySchema = Object.freeze<FileSchema>({
  applicationId: 0x534b524e,
  migrations: [versionOne, versionTwo],
  isShrinkable: true,
  hasIntactRows: () => false,
})
