import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { systemClock } from '@skerry/base'
import { createHttpsTransport, fixedCredentials, readBody } from '@skerry/client'
import { createUserToken } from '../admin/user-tokens.ts'
import { untilAudited, type AuditedLine } from '../../testing/scenes/audited-lines.ts'
import {
  registerCluster,
  startTestAgent,
  startTestEdge,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const masters = ['system:masters']

interface Asked {
  readonly organizations: string[]
  readonly path: string
  readonly fields: string
}

/** Sends one upgrade; the status line of the answer, when the hub has closed the connection. */
async function asked(fleet: TestHub, { organizations, path, fields }: Asked): Promise<string> {
  const subject = { commonName: 'rita', organizations }
  const { certificate: cert, key } = await fleet.credentialsOf(subject)
  const port = Number(new URL(fleet.url).port)
  const socket = connect({ host: '127.0.0.1', port, ca: fleet.caPem, cert, key })
  socket.write(`GET ${path} HTTP/1.1\r\nhost: hub\r\nconnection: Upgrade\r\n${fields}\r\n`)
  let text = ''
  socket.on('data', (piece: Buffer) => (text += piece.toString()))
  await once(socket, 'close', { signal: soon() })
  return text.split('\r\n', 1)[0] ?? ''
}

const session = '/clusters/edge/api/v1/namespaces/default/pods/none/exec?command=id&stdout=true'
const webSocket = [
  'upgrade: websocket',
  'sec-websocket-key: c2tlcnJ5LXRlc3Qta2V5MQ==',
  'sec-websocket-version: 13',
  'sec-websocket-protocol: v5.channel.k8s.io',
]
const whole = `${webSocket.join('\r\n')}\r\n`

test('a refused session is recorded as refused, no matter who refused it, with its cluster', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub()
  await registerCluster(fleet, 'edge')
  const policy = { deniedGroups: ['guests'] }
  await using agent = await startTestAgent(fleet, { name: 'edge', api: edge.api, policy })
  await agent.connected()
  const cases: readonly (Asked & { who: string; status: number })[] = [
    { who: 'the hub', organizations: [], path: session, fields: whole, status: 403 },
    {
      who: 'the agent',
      organizations: [...masters, 'guests'],
      path: session,
      fields: whole,
      status: 403,
    },
    { who: 'the cluster', organizations: masters, path: session, fields: whole, status: 404 },
    {
      who: 'the hub, of a watch with half a handshake',
      organizations: masters,
      path: '/clusters/edge/api/v1/pods?watch=true',
      fields: 'upgrade: websocket\r\n',
      status: 400,
    },
  ]
  let count = 0
  for (const { who, status, ...one } of cases) {
    assert.match(await asked(fleet, one), new RegExp(`^HTTP/1\\.1 ${status} `), who)
    count += 1
    const isWanted = ({ user }: AuditedLine): boolean => user === 'rita'
    const line = (await untilAudited(fleet, { count, isWanted }, soon())).at(-1)
    assert.deepEqual([line?.status, line?.cluster, line?.uri], [status, 'edge', one.path], who)
  }
})

test("the audit log says which of a user's credentials was used, so that it can be taken away", async () => {
  await using fleet = await startTestHub()
  const path = '/clusters/edge/version'
  const lines = async (count: number) => {
    const isWanted = ({ uri }: AuditedLine): boolean => uri === path
    return (await untilAudited(fleet, { count, isWanted }, soon())).map((line) => line.credential)
  }
  const ids: string[] = []
  for (const ttlMs of [3_600_000, undefined]) {
    const user = { name: 'rita', groups: [], ttlMs }
    const { id, token } = await createUserToken(fleet.admin, user, Date.now(), soon())
    ids.push(id)
    using transport = createHttpsTransport(
      {
        server: fleet.url,
        certificateAuthority: fleet.caPem,
        credentials: fixedCredentials({ bearerToken: token }),
      },
      { clock: systemClock },
    )
    const { status, body } = await transport.send({ method: 'GET', path, headers: {} }, soon())
    await readBody(body)
    assert.equal(status, 403)
    assert.deepEqual(await lines(ids.length), ids)
  }
  using byCertificate = await fleet.as({ commonName: 'rita' })
  await readBody((await byCertificate.send({ method: 'GET', path, headers: {} }, soon())).body)
  assert.match((await lines(3)).at(-1) ?? '', /^X509SHA256=[0-9a-f]{64}$/)
})
