import type { FileSchema } from '@skerry/store'

/**
 * entry: writes that were acknowledged and are not at the control plane yet, in their order; `object` names what they
 * change, `sent` is 1 once a create may have reached the control plane, `conflict` goes with the request, and `sum` is a CRC-32 of
 * the row. uid: objects
 * that were created here, and the uids that the control plane gave them. span: the revisions that this node gave to
 * changes of a resource in one absence; `low` is the one before the first. fact: the journal's own name, and what became
 * of an earlier journal.
 */
const versionOne = `
  CREATE TABLE entry (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    object TEXT NOT NULL,
    sent INTEGER NOT NULL,
    conflict TEXT NOT NULL,
    body BLOB NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX entry_object ON entry (object, seq);
  CREATE TABLE uid (local TEXT PRIMARY KEY, given TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE span (
    resource TEXT NOT NULL,
    low INTEGER NOT NULL,
    high INTEGER NOT NULL,
    PRIMARY KEY (resource, low)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE fact (name TEXT PRIMARY KEY, text TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES ('isOpen', 0);
`

/** The journal of a node's own writes ("SKRJ" in the header of the file). Nothing else has what is in it. */
export const journalSchema = Object.freeze<FileSchema>({
  applicationId: 0x534b524a,
  migrations: [versionOne],
  hasIntactRows: () => false,
})
