import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFile, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { LeaderAct } from '../../testing/histories/history.ts'
import { leaderFaults } from '../../testing/histories/leader-terms.ts'
import { linearizabilityFaults } from '../../testing/histories/linearizable.ts'
import { lossFaults, watchFaults } from '../../testing/histories/watch-order.ts'
import { clientHostNumber, type Master, type MastersOnHosts } from './masters-on-hosts.ts'
import { readReport, type HistoryReport, type LoadMark } from './history/history-report.ts'

/** The bounds of the election; a watcher may be late by as much as a busy machine makes it. */
const terms = { leaseMs: 15_000, toleranceMs: 3_000 }
const faultsShown = 10

export interface FollowedHistory {
  /** Returns what happened since the last mark. */
  mark(name: string): Promise<LoadMark>
  /** Ends the load and throws if its history has a fault. */
  judge(): Promise<HistoryReport>
}

/** Starts clients of all masters in a host of their own. */
export async function followHistory({
  cluster,
  masters,
}: MastersOnHosts): Promise<FollowedHistory> {
  const host = await cluster.host(clientHostNumber)
  const reportPath = join(cluster.directory, 'history.json')
  const program = join(import.meta.dirname, 'history', 'history-load.ts')
  const kubeconfig = join(cluster.siteDirectory, 'admin.kubeconfig')
  const urls = masters.map(({ url }) => url)
  const flags = ['--disable-warning=ExperimentalWarning', program, kubeconfig, reportPath]
  const child = host.start([process.execPath, ...flags, ...urls], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  assert.ok(child.stdout && child.stdin)
  const { stdin } = child
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next()
    assert.ok(!done, 'The load has ended')
    return value
  }
  assert.equal(await next(), 'ready')
  return {
    async mark(name) {
      stdin.write(`${name}\n`)
      // The program's own type.
      return JSON.parse(await next()) as LoadMark
    },
    async judge() {
      const exited = once(child, 'exit')
      stdin.write('stop\n')
      assert.equal(await next(), 'done')
      await exited
      await keep(reportPath)
      const report = await readReport(reportPath)
      // A history in which nothing happened has no fault.
      const holders = new Set(report.leases.map(({ holder }) => holder).filter(Boolean))
      const counts = { operations: report.operations.length, holders: holders.size }
      assert.ok(counts.operations > 200 && counts.holders > 1, JSON.stringify(counts))
      const faults = await faultsOf(report, masters)
      assert.deepEqual(faults.slice(0, faultsShown), [], `${faults.length} faults`)
      return report
    },
  }
}

/** A developer may want another judge: dev/hack/porcupine.ts. */
async function keep(reportPath: string): Promise<void> {
  const directory = process.env['SKERRY_HISTORIES']
  if (directory === undefined) return
  const test = basename(process.argv[1] ?? 'history', '.test.ts')
  await copyFile(reportPath, join(directory, `${test}.json`))
}

async function faultsOf(report: HistoryReport, masters: readonly Master[]): Promise<string[]> {
  const { operations, written, watches, leases, stored } = report
  const all = [...written, ...acknowledgedOf(report)]
  // Names of holders are unique for each start; the audit log knows the machine.
  const acts = await actsOf(masters)
  assert.ok(acts.length > 20, `${acts.length} acts of controllers`)
  const byMachine = leases.map((each) => ({ ...each, holder: machineOf(each.holder) }))
  return [
    ...linearizabilityFaults(operations),
    ...watchFaults(watches, all),
    ...lossFaults(all, new Map(Object.entries(stored))),
    ...leaderFaults(byMachine, acts, terms),
  ]
}

function acknowledgedOf({ operations }: HistoryReport) {
  return operations.flatMap(({ key, action }) =>
    action.kind === 'write' && typeof action.outcome === 'number'
      ? { key, value: action.value, revision: action.outcome }
      : [],
  )
}

function machineOf(holder: string): string {
  return holder.replace(/_.*/, '')
}

/** Returns everything that controllers created, by the audit logs of the masters. */
async function actsOf(masters: readonly Master[]): Promise<LeaderAct[]> {
  const each = await Promise.all(
    masters.map(async ({ host, auditLog }) => {
      const text = await readFile(auditLog, 'utf8').catch(() => '')
      return text.split('\n').flatMap((line) => actIn(line, host.name))
    }),
  )
  return each.flat()
}

function actIn(line: string, holder: string): LeaderAct[] {
  const event = parsed(line)
  const revision = Number(event?.responseObject?.metadata?.resourceVersion)
  const code = event?.responseStatus?.code ?? 0
  if (!event || !revision || code >= 300 || event.objectRef?.resource === 'leases') return []
  const { namespace = '', resource = '', name = '' } = event.objectRef ?? {}
  return [{ revision, holder, what: `create of ${resource} ${namespace}/${name}` }]
}

interface AuditEvent {
  readonly objectRef?: {
    readonly namespace?: string
    readonly resource?: string
    readonly name?: string
  }
  readonly responseStatus?: { readonly code?: number }
  readonly responseObject?: { readonly metadata?: { readonly resourceVersion?: string } }
}

/** A process that was killed may have left half a line. */
function parsed(line: string): AuditEvent | undefined {
  try {
    return JSON.parse(line)
  } catch {
    // It was not acknowledged as written, and the reader cannot use it.
    return undefined
  }
}
