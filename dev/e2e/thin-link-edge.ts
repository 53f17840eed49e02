/**
 * The far end of a thin link: an agent, and in the place of its API server one that answers what a test needs:
 * few bytes, many, lines for ever, a session. Arguments: the hub, a registration token, the hash of its authority.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { mkdtemp } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { createLogger, createMetrics, systemClock, systemRandom } from '@skerry/base'
import { runAgent } from '../../roles/agent/agent.ts'

const [hub = '', token = '', caHash = ''] = process.argv.slice(2)
const lineEveryMs = 500

const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://edge')
  if (pathname === '/lines') {
    const timer = setInterval(() => void response.write('line\n'), lineEveryMs)
    response.once('close', () => clearInterval(timer))
    response.write('line\n')
  } else response.end(Buffer.alloc(Number(searchParams.get('bytes') ?? 2), 'x'))
})
server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
  const { upgrade = '' } = request.headers
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${upgrade}\r\n\r\n`,
  )
  socket.pipe(socket)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
// A listening TCP server has an address of this shape.
const { port } = server.address() as AddressInfo
await runAgent(
  {
    directory: await mkdtemp(join(tmpdir(), 'skerry-thin-')),
    hub,
    clusterName: 'edge',
    enrolment: { tokenFile: undefined, tokenText: token, caHash },
    api: { server: `http://127.0.0.1:${port}` },
  },
  {
    clock: systemClock,
    random: systemRandom,
    metrics: createMetrics(),
    log: createLogger({ level: 'info', destination: process.stderr }),
    signal: new AbortController().signal,
  },
)
