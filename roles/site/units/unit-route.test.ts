import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, simulatedClock } from '@skerry/base'
import { callApi, startTestApiServer } from '@skerry/testing'
import type { AuthorizedRequest } from '@skerry/apiserver'
import { HandoverActs } from './handover-acts.ts'
import { UnitFence } from './unit-fence.ts'
import { unitAuthorizer, unitRoute } from './unit-route.ts'

const { signal } = new AbortController()
const settings = {
  clusterCidr: '10.42.0.0/16',
  serviceCidr: '10.43.0.0/16',
  clusterDomain: 'cluster.local',
  nodeCidrMaskSize: 24,
}

interface Asked {
  readonly status: number
  readonly body: Buffer
}

type Ask = (user: string, method: string, path: string, body?: string) => Promise<Asked>

/** A site whose node n1 is in the unit hall; asks the route as the users that it is given. */
async function withRoute(play: (ask: Ask, acts: HandoverActs) => Promise<void>): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-units-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const api = stack.use(await startTestApiServer())
  const fence = new UnitFence()
  await fence.guard(api.store)
  const context = { clock: simulatedClock(), log: silentLogger }
  const acts = new HandoverActs(fence, { directory, isShared: false }, context)
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }
  await callApi(api.transport, { method: 'POST', path: '/api/v1/nodes', body })
  const route = unitRoute(acts, settings)
  const ask: Ask = async (user, method, target, sent = '') => {
    const admitted = {
      request: {
        method,
        target,
        body: (async function* () {
          yield Buffer.from(sent)
        })(),
      },
      user: { name: user, groups: ['system:nodes'], extra: {} },
    }
    // The route reads nothing else of a request.
    const answer = await route.serve(admitted as unknown as AuthorizedRequest)
    const pieces: Uint8Array[] = []
    const whole = answer.body instanceof Uint8Array ? [answer.body] : answer.body
    for await (const piece of whole) pieces.push(piece)
    return { status: answer.status, body: Buffer.concat(pieces) }
  }
  await play(ask, acts)
}

const statement = '/units/v1/statement'
const node = { generation: 0, follows: 'parent' } as const
const empty = JSON.stringify({ record: { generation: 0, phase: 'empty' }, node })

test('a node hears the record of its unit, and one of no unit that nothing was handed over', async () => {
  await withRoute(async (ask, acts) => {
    const record = { generation: 1, phase: 'fenced' } as const
    await acts.note('hall', { record, nodes: ['n1'] }, signal)
    const own = await ask('system:node:n1', 'POST', statement, empty)
    const server = { isServer: true, needsJoin: false, masters: ['n1'], needsMasterJoin: false }
    const expected = { unit: 'hall', parent: record, ...server, settings }
    assert.deepEqual(JSON.parse(own.body.toString()), expected)
    const other = await ask('system:node:n2', 'POST', statement, empty)
    const nothing = { parent: { generation: 0, phase: 'own' }, settings }
    assert.deepEqual(JSON.parse(other.body.toString()), nothing)
    assert.deepEqual(acts.heardOf('hall'), JSON.parse(empty).record)
    assert.deepEqual(acts.mastersOf('hall'), [{ node: 'n1' }])
    const serves = { version: 'v1.36.3+skerry-1.0.0', server: 'https://10.0.0.2:6443' }
    const said = JSON.stringify({ record: { generation: 1, phase: 'open' }, node, serves })
    await ask('system:node:n1', 'POST', statement, said)
    assert.deepEqual(acts.mastersOf('hall'), [{ node: 'n1', serves }])
  })
})

const bad: readonly [body: string, message: RegExp][] = [
  ['{', /not JSON/],
  ['{}', /no such records/],
  ...[
    { record: { generation: 1.5, phase: 'open' }, node },
    { record: { generation: 1, phase: 'king' }, node },
    { record: { generation: 1, phase: 'open', content: '../ca' }, node },
    { record: { generation: 1, phase: 'open' }, node: { generation: 1, follows: 'me' } },
    { record: { generation: 1, phase: 'open' }, node, join: { server: 'http://a' } },
    {
      record: { generation: 1, phase: 'open' },
      node,
      serves: { version: '1', server: 'https://a' },
    },
  ].map((value): [string, RegExp] => [JSON.stringify(value), /no such records/]),
  ['x'.repeat(5_000), /more than 4096 bytes/],
]

test('a statement with other fields is refused', async () => {
  await withRoute(async (ask) => {
    for (const [body, message] of bad) {
      await assert.rejects(ask('system:node:n1', 'POST', statement, body), message)
    }
    await assert.rejects(ask('jane', 'POST', statement, empty), /only nodes ask/)
  })
})

test('a content goes to the nodes of its unit alone, and comes only if it is waited for', async () => {
  await withRoute(async (ask, acts) => {
    await acts.note('hall', { record: { generation: 1, phase: 'fenced' }, nodes: ['n1'] }, signal)
    await acts.pack('hall', signal)
    const { content = '' } = acts.recordOf('hall')
    const got = await ask('system:node:n1', 'GET', `/units/v1/contents/${content}`)
    assert.equal(createHash('sha256').update(got.body).digest('hex'), content)
    await assert.rejects(
      ask('system:node:n2', 'GET', `/units/v1/contents/${content}`),
      /no such unit/,
    )
    await acts.note('hall', { record: { generation: 2, phase: 'recalled' }, nodes: [] }, signal)
    const digest = createHash('sha256').update('sealed').digest('hex')
    const path = `/units/v1/contents/${digest}`
    await assert.rejects(ask('system:node:n1', 'PUT', path, 'sealed'), /nobody waits for it/)
    const record = { generation: 2, phase: 'sealed', content: digest }
    const sealed = JSON.stringify({ record, node })
    const order = await ask('system:node:n1', 'POST', statement, sealed)
    assert.equal(JSON.parse(order.body.toString()).wants, digest)
    await assert.rejects(ask('system:node:n1', 'PUT', path, 'other'), /the bytes are others/)
    assert.equal((await ask('system:node:n1', 'PUT', path, 'sealed')).status, 200)
    assert.equal(await readFile(acts.contentPath(digest), 'utf8'), 'sealed')
  })
})

test('only nodes may ask at these paths', async () => {
  const asked = (groups: readonly string[], path: string) =>
    unitAuthorizer.authorize({
      user: { name: 'u', groups, extra: {} },
      verb: 'post',
      isResourceRequest: false,
      path,
    })
  assert.equal((await asked(['system:nodes'], statement)).verdict, 'allow')
  assert.equal((await asked(['system:authenticated'], statement)).verdict, 'no-opinion')
  assert.equal((await asked(['system:nodes'], '/metrics')).verdict, 'no-opinion')
})
