/**
 * Holds one end of many idle tunnels. Arguments: `hub` or `agents`, the directory with the certificates, the
 * hub's port, the number of tunnels. Prints `ready` when they are open, and holds them until killed.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@skerry/base'
import { createTunnelServer, dialTunnel, TunnelRegistry, type TunnelHandler } from '@skerry/tunnel'
import { returnMemory, thisEngine } from '../../../roles/runtime/return-memory.ts'

const deps = { clock: systemClock, log: silentLogger }
const atOnce = 50

const nothing: TunnelHandler = {
  onRequest: () => Promise.reject(new Error('Cannot answer: nothing is asked here')),
  onUpgrade: () => Promise.reject(new Error('Cannot answer: nothing is asked here')),
}

function startHub(directory: string, port: number): void {
  const read = (name: string): Buffer => readFileSync(join(directory, name))
  const registry = new TunnelRegistry({}, systemClock)
  let accepted = 0
  const tunnels = createTunnelServer(
    { registry, authenticate: async () => ({ identity: `edge-${accepted++}` }) },
    deps,
  )
  const tls = { cert: read('server.crt'), key: read('server.key'), ca: read('ca.crt') }
  const server = createServer({ ...tls, requestCert: true, noDelay: true })
  server.on('upgrade', tunnels.onUpgrade)
  const engine = thisEngine(process.execArgv)
  if (engine) void returnMemory({ clock: systemClock, engine }, new AbortController().signal)
  server.listen(port, '127.0.0.1', () => console.log('ready'))
}

async function startAgents(directory: string, port: number, count: number): Promise<void> {
  const read = (name: string): string => readFileSync(join(directory, name), 'utf8')
  const tls = { ca: read('ca.crt'), cert: read('client.crt'), key: read('client.key') }
  const url = `wss://localhost:${port}/tunnel`
  const signal = new AbortController().signal
  let open = 0
  while (open < count) {
    const missing = Math.min(atOnce, count - open)
    const dials = Array.from({ length: missing }, () =>
      dialTunnel({ url, tls }, nothing, deps, signal),
    )
    open += (await Promise.all(dials)).length
  }
  console.log('ready')
}

const [role = '', directory = '', port = '', count = ''] = process.argv.slice(2)
if (role === 'hub') startHub(directory, Number(port))
else await startAgents(directory, Number(port), Number(count))
