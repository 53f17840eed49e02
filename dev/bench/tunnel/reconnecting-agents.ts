/**
 * Runs many agents in one process, each with a cluster's certificate and the tunnel's own backoff. Arguments:
 * the hub's URL, the file with their certificates, the first agent's number, the number of agents. Sends over
 * the process's channel how many are connected, and when each one was connected again after the last `mark`.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { agentTunnelUrl, type AgentCertificates, type AgentsReport } from './agent-fleet.ts'
import { runTunnelAgent, type TunnelHandler, type TunnelResponse } from '@skerry/tunnel'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const reportMs = 100
/** The number of agents that connect together at first. Only the connecting after a cut is measured. */
const atOnce = 20

async function* onePiece(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('{}')
}

const answer = async (): Promise<TunnelResponse> => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'content-length': '2' },
  body: onePiece(),
})
const handler: TunnelHandler = { onRequest: answer, onUpgrade: answer }

const [hub = '', file = '', first = '', count = ''] = process.argv.slice(2)
// agent-fleet.ts writes this file.
const { ca, key, certificates } = JSON.parse(readFileSync(file, 'utf8')) as AgentCertificates
const open = new Set<number>()
const backAtMs = new Map<number, number>()
let changed = true
let dials = 0

process.on('message', () => {
  backAtMs.clear()
  dials = 0
})
process.on('disconnect', () => process.exit(0))
setInterval(() => {
  if (!changed) return
  changed = false
  const report: AgentsReport = { open: open.size, backAtMs: [...backAtMs.values()], dials }
  process.send?.(report)
}, reportMs)

const never = new AbortController().signal
for (let number = Number(first); number < Number(first) + Number(count); number += 1) {
  const tls = { ca, key, cert: certificates[number] ?? '' }
  const endpoint = () => ({ url: agentTunnelUrl(hub, number), tls })
  void runTunnelAgent(
    {
      endpoint,
      onState({ state }) {
        changed = true
        if (state === 'dialing') dials += 1
        if (state === 'waiting') open.delete(number)
        if (state !== 'connected') return
        open.add(number)
        backAtMs.set(number, Date.now())
      },
    },
    handler,
    deps,
    never,
  )
  while (number - Number(first) - open.size >= atOnce) await sleep(10)
}
