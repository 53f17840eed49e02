/**
 * The near end of a thin link: a hub and one of its users. Argument: the address to listen on. Prints what an
 * agent needs as a line of JSON, waits for its tunnel, and then prints a line of JSON after each step.
 */
import { once } from 'node:events'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { clusterResource } from '@skerry/fleet-kinds'
import { spkiHash } from '@skerry/pki'
import { until } from '@skerry/testing'
import { freshToken, startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'

const [bindAddress = '127.0.0.1'] = process.argv.slice(2)
/** A thin link carries this in some nine seconds. */
const bulkBytes = 90_000

const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`)

await using fleet = await startTestHub({ bindAddress })
await fleet.admin.resource(clusterResource).create(
  {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'edge' },
    spec: { syncMode: 'Pull' },
  },
  AbortSignal.timeout(10_000),
)
const token = await freshToken(fleet, 'edge')
say({ hub: fleet.url, token, caHash: spkiHash(fleet.caPem) })
await until(() => fleet.hub.connections.own.sessions('edge').length > 0)
const [tunnel] = fleet.hub.connections.own.sessions('edge')
const options = await optionsOf(fleet)

say({ did: 'get', bytes: await bytesOf('/small') })
const lines = { count: 0 }
const watch = await answerTo('/lines')
watch.on('data', (chunk: Buffer) => (lines.count += chunk.length / 'line\n'.length))
await once(watch, 'data')
say({ did: 'watch' })
const session = await openSession()
session.write('hello')
say({ did: 'exec', echo: String((await once(session, 'data'))[0]) })
const bulk = { isDone: false, answersBefore: 0, echoesBefore: 0, linesBefore: 0 }
const linesAtStart = lines.count
const whole = bytesOf(`/bulk?bytes=${bulkBytes}`).finally(() => (bulk.isDone = true))
while (!bulk.isDone) {
  await bytesOf('/small')
  session.write('again')
  await once(session, 'data')
  if (bulk.isDone) break
  bulk.answersBefore += 1
  bulk.echoesBefore += 1
}
bulk.linesBefore = lines.count - linesAtStart
say({ did: 'bulk', bytes: await whole, ...bulk })
say({
  did: 'stay',
  isSameTunnel: fleet.hub.connections.own.sessions('edge')[0] === tunnel && tunnel?.isOpen,
  rttMs: tunnel?.rttMs,
})
process.exit(0)

async function optionsOf(hub: TestHub): Promise<RequestOptions> {
  const { caPem, url } = hub
  const { certificate: cert, key } = await hub.credentialsOf({
    commonName: 'olga',
    organizations: ['system:masters'],
  })
  const { hostname: host, port } = new URL(url)
  return { host, port, ca: caPem, cert, key }
}

function answerTo(path: string): Promise<IncomingMessage> {
  const request = httpsRequest({ ...options, path: `/clusters/edge${path}` })
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.once('error', reject)
    request.end()
  })
}

async function bytesOf(path: string): Promise<number> {
  const answer = await answerTo(path)
  if (answer.statusCode !== 200) throw new Error(`Cannot get ${path}: ${answer.statusCode}`)
  let bytes = 0
  for await (const chunk of answer) bytes += (chunk as Buffer).length
  return bytes
}

function openSession(): Promise<Duplex> {
  const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1' }
  const path = '/clusters/edge/api/v1/namespaces/default/pods/p/exec?command=cat'
  const request = httpsRequest({ ...options, path, method: 'POST', headers })
  return new Promise((resolve, reject) => {
    request.once('upgrade', (_answer, socket: Duplex) => resolve(socket))
    request.once('response', ({ statusCode }) =>
      reject(new Error(`Cannot open session: ${statusCode}`)),
    )
    request.once('error', reject)
    request.end()
  })
}
