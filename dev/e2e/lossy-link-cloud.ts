/**
 * The near end of a link that loses packets: a hub and one of its users. Argument: the address to listen on.
 * Prints what an agent needs as a line of JSON, waits for its tunnel, and then prints a line of JSON after
 * each step.
 */
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { spkiHash } from '@skerry/pki'
import { until } from '@skerry/testing'
import { freshToken, registerCluster, startTestHub } from '../../testing/scenes/test-fleet.ts'

const [bindAddress = '127.0.0.1'] = process.argv.slice(2)
const bulkBytes = 1_000_000
const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`)

await using fleet = await startTestHub({ bindAddress })
await registerCluster(fleet, 'edge')
const token = await freshToken(fleet, 'edge')
const identity = await fleet.credentialsOf({
  commonName: 'olga',
  organizations: ['system:masters'],
})
const { hostname: host, port } = new URL(fleet.url)
const user = { host, port, ca: fleet.caPem, cert: identity.certificate, key: identity.key }
say({ hub: fleet.url, token, caHash: spkiHash(fleet.caPem) })
await until(() => fleet.hub.connections.own.sessions('edge').length > 0)
const [tunnel] = fleet.hub.connections.own.sessions('edge')
const isSameTunnel = (): boolean =>
  tunnel?.isOpen === true && fleet.hub.connections.own.sessions('edge')[0] === tunnel

const asked = { answered: 0, bytes: 0 }
for (let number = 0; number < 30; number += 1) {
  const { status, bytes } = await ask('/small')
  asked.answered += status === 200 ? 1 : 0
  asked.bytes += bytes
}
say({ did: 'requests', ...asked })
const lines = { count: 0 }
const watch = await answerTo('/lines')
watch.on('data', (chunk: Buffer) => (lines.count += chunk.length / 'line\n'.length))
const session = await openSession()
let echo = ''
session.on('data', (chunk: Buffer) => (echo += String(chunk)))
for (let number = 0; number < 30; number += 1) {
  session.write(`${number} `)
  const typed = `${number} `
  await until(() => echo.endsWith(typed))
}
await until(() => lines.count >= 3)
say({ did: 'streams', echo, isSameTunnel: isSameTunnel() })
say({ did: 'bulk', ...(await ask(`/bulk?bytes=${bulkBytes}`)), isSameTunnel: isSameTunnel() })

// From here on the test sends a line when nothing passes, and another when packets pass again.
const orders = createInterface(process.stdin)[Symbol.asyncIterator]()
await orders.next()
const lost = await ask('/small')
say({ did: 'burst', status: lost.status })
await orders.next()
const before = lines.count
await until(async () => (await ask('/small')).status === 200)
session.write('again')
await until(() => echo.endsWith('again') && lines.count > before)
say({ did: 'back', isSameTunnel: isSameTunnel() })
process.exit(0)

function answerTo(path: string): Promise<IncomingMessage> {
  const request = httpsRequest({ ...user, path: `/clusters/edge${path}` })
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.once('error', reject)
    request.end()
  })
}

async function ask(path: string): Promise<{ status: number | undefined; bytes: number }> {
  const answer = await answerTo(path)
  let bytes = 0
  for await (const chunk of answer) bytes += (chunk as Buffer).length
  return { status: answer.statusCode, bytes }
}

async function openSession(): Promise<Duplex> {
  const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1' }
  const path = '/clusters/edge/api/v1/namespaces/default/pods/p/exec?command=cat'
  const request = httpsRequest({ ...user, path, method: 'POST', headers })
  request.end()
  // The types know events by their names only: the second argument of this one is the connection.
  const [, socket] = (await once(request, 'upgrade')) as [IncomingMessage, Duplex]
  return socket
}
