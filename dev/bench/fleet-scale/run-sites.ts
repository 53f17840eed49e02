/**
 * Runs the agents of many sites in one process, each as `skerry agent` runs it, but with an API server that is simulated.
 * Argument: the path of a SitesFile. Sends a SitesReport over the process's channel whenever something has changed.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMetrics, messageOf, silentLogger, systemClock, systemRandom } from '@skerry/base'
import type { AnyObject } from '@skerry/api'
import { runAgent } from '../../../roles/agent/agent.ts'
import { createSimulatedApi } from './simulated-api.ts'
import type { SitesFile, SitesReport } from './site-orders.ts'

const reportMs = 100

const [path = ''] = process.argv.slice(2)
// site-fleet.ts writes this file.
const file = JSON.parse(readFileSync(path, 'utf8')) as SitesFile
const stop = new AbortController()
const open = new Set<string>()
const connected = new Set<string>()
let openedAtMs: number[] = []
let writtenAtMs: Record<string, number[]> = {}
const waiting: (() => void)[] = []
let hasChanged = true
let running = 0

process.on('disconnect', () => process.exit(0))
setInterval(() => {
  if (!hasChanged) return
  hasChanged = false
  const report: SitesReport = { open: open.size, openedAtMs, writtenAtMs }
  openedAtMs = []
  writtenAtMs = {}
  process.send?.(report)
}, reportMs)

for (const name of file.sites) {
  if (running >= file.atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
  running += 1
  void runSite(name)
}

async function runSite(name: string): Promise<void> {
  const api = createSimulatedApi({ uid: name, onWrite: noteWrite })
  const context = {
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
    metrics: createMetrics(),
    signal: stop.signal,
  }
  try {
    await runAgent(
      {
        clusterName: name,
        hub: file.hub,
        directory: join(file.directory, name),
        enrolment: { tokenFile: undefined, tokenText: undefined, caHash: undefined },
        api: { server: 'http://site.invalid', connect: refuse },
        localTransport: api.transport,
        appliesWorks: true,
        listeners: { onOpen: (count) => noteOpen(name, count) },
      },
      context,
    )
  } catch (error) {
    console.error(`Site ${name} has ended: ${messageOf(error)}`)
  }
}

/** Nothing dials the simulated API server. */
async function refuse(): Promise<never> {
  throw new Error('Cannot connect: the site is simulated')
}

function noteOpen(name: string, count: number): void {
  hasChanged = true
  if (count === 0) return void open.delete(name)
  if (!open.has(name)) openedAtMs.push(Date.now())
  open.add(name)
  // Only the first of them wait for each other.
  if (connected.has(name)) return
  connected.add(name)
  running -= 1
  waiting.shift()?.()
}

function noteWrite(object: AnyObject): void {
  hasChanged = true
  const times = (writtenAtMs[textOf(object)] ??= [])
  times.push(Date.now())
}

function textOf({ kind, metadata, spec }: AnyObject): string {
  const image = /"image":"([^"]*)"/.exec(JSON.stringify(spec ?? {}))?.[1]
  return [kind, metadata.name, ...(image === undefined ? [] : [image])].join(' ')
}
