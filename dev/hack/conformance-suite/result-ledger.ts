import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { suiteCache } from './build-suite.ts'
import type { TestResult } from './run-suite.ts'

/** The last result of each test, over all runs on this machine. */
export interface LedgerEntry extends TestResult {
  /** The commit of the tree from which the site was built. */
  commit: string
  /** The start of the run in RFC 3339. */
  time: string
}

const path = join(suiteCache, 'results.json')

export async function readLedger(): Promise<Map<string, LedgerEntry>> {
  let text = '[]'
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    // The first run has no results yet.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  // recordResults writes this type.
  const entries = JSON.parse(text) as LedgerEntry[]
  return new Map(entries.map((entry) => [entry.name, entry]))
}

/** The tested commit and the start of the run: if two runs overlap, the later one counts. */
export interface RunOrigin {
  readonly commit: string
  readonly time: string
}

export function runOrigin(): RunOrigin {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  }).trim()
  return { commit, time: new Date().toISOString() }
}

export async function recordResults(
  results: readonly TestResult[],
  origin: RunOrigin,
): Promise<void> {
  const ledger = await readLedger()
  for (const result of results) {
    const known = ledger.get(result.name)
    if (known === undefined || known.time <= origin.time)
      ledger.set(result.name, { ...result, ...origin })
  }
  const entries = [...ledger.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `${JSON.stringify(entries, undefined, 1)}\n`)
}
