/** For tests: what a hub has written down. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The lines of a hub's audit log that are whole by now: others come while it writes. */
export async function auditedLines({
  directory,
}: {
  /** Of the hub. */
  readonly directory: string
}): Promise<string[]> {
  const text = await readFile(join(directory, 'audit.log'), 'utf8')
  return text.split('\n').slice(0, -1)
}
