import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pidsOf, targetEntry, type Processes, type Site, type Subject } from './subject.ts'

const startMsMax = 10_000
const pollMs = 50

/**
 * Starts two plain relays in a chain, at the places of hub and agent: without WebSocket, HTTP or multiplexed
 * streams.
 */
export async function startRelay(site: Site, processes: Processes): Promise<Subject> {
  const edge = await startHop('relay-edge', site.targetPort, { site, processes })
  const cloud = await startHop('relay-cloud', edge.port, { site, processes })
  const entry = await targetEntry(site, { host: '127.0.0.1', port: cloud.port })
  return { entry, ...pidsOf({ cloud: cloud.child, edge: edge.child }) }
}

async function startHop(
  name: string,
  nextPort: number,
  { site, processes }: { site: Site; processes: Processes },
): Promise<{ port: number; child: ChildProcess }> {
  const { directory } = site
  const script = join(import.meta.dirname, 'byte-relay.ts')
  const command = [process.execPath, script, directory, String(nextPort)]
  const child = await processes.start(name, command)
  const endMs = performance.now() + startMsMax
  for (;;) {
    const port = Number(/^\d+$/m.exec(await readFile(join(directory, `${name}.log`), 'utf8'))?.[0])
    if (port > 0) return { port, child }
    if (performance.now() > endMs) throw new Error(`Cannot measure: see ${name}.log`)
    await sleep(pollMs)
  }
}
