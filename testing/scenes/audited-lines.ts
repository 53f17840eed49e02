/** Reads a hub's audit log, for tests. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../until.ts'

interface AuditedHub {
  /** The hub's directory. */
  readonly directory: string
}

export interface AuditedLine {
  readonly user?: string
  readonly method: string
  readonly uri: string
  readonly status: number
  /** Why it did not end regularly. */
  readonly cut?: string
  /** The id of the user's credential. */
  readonly credential?: string
  /** The cluster, for requests to one. */
  readonly cluster?: string
}

/** The lines of a hub's audit log that are whole by now: others come while it writes. */
export async function auditedLines({ directory }: AuditedHub): Promise<string[]> {
  const text = await readFile(join(directory, 'audit.log'), 'utf8')
  return text.split('\n').slice(0, -1)
}

/** Resolves with the matching lines once there are enough. Rejects once the signal aborts. */
export function untilAudited(
  hub: AuditedHub,
  { count, isWanted }: { count: number; isWanted: (line: AuditedLine) => boolean },
  signal: AbortSignal,
): Promise<AuditedLine[]> {
  return until(async () => {
    // The hub writes lines of this type.
    const lines = (await auditedLines(hub)).map((line) => JSON.parse(line) as AuditedLine)
    const found = lines.filter(isWanted)
    return found.length >= count && found
  }, signal)
}
