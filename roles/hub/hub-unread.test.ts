import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type RequestOptions } from 'node:https'
import { test } from 'node:test'
import { apiServerLimits } from '@skerry/apiserver'
import { readBody } from '@skerry/client'
import { until } from '@skerry/testing'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
} from '../../testing/scenes/test-fleet.ts'

const path = '/api/v1/namespaces/default/configmaps'
const watchList =
  '?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
const masters = ['system:masters']
/** Half of what sixty readers would hold at the edge without a bound. */
const edgeBytesMax = 5_000_000

async function startFleet() {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestEdge({}, { unreadBytesPerUserMax: edgeBytesMax }))
  const fleet = stack.use(await startTestHub())
  stack.use(await startTestAgent(fleet, { name: 'edge', api: edge.api }))
  await untilCluster(
    fleet,
    'edge',
    ({ Ready, Connected }) => Ready === 'True' && Connected === 'True',
  )
  const data = { a: 'a'.repeat(500_000) }
  for (let count = 0; count < 20; count += 1) {
    const metadata = { name: `big-${count}`, namespace: 'default' }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
    await edge.objects.create({ group: '', resource: 'configmaps' }, object)
  }
  const owned = stack.move()
  return { edge, fleet, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function leaveUnread(url: string, tls: RequestOptions): Promise<Disposable> {
  const sent = request(url, { ...tls, agent: false })
  sent.on('error', () => undefined)
  sent.end()
  const [response] = await once(sent, 'response')
  response.pause()
  return { [Symbol.dispose]: () => void sent.destroy() }
}

test('unread lists and watches of a cluster hold only as much as one user may, at hub and edge', async () => {
  await using all = await startFleet()
  const { edge, fleet } = all
  const { certificate, key } = await fleet.credentialsOf({
    commonName: 'mallory',
    organizations: masters,
  })
  const tls = { cert: certificate, key, ca: fleet.caPem }
  using stack = new DisposableStack()
  let [atHub, atEdge] = [0, 0]
  for (let count = 0; count < 60; count += 1) {
    const query = count % 2 === 0 ? '' : watchList
    stack.use(await leaveUnread(`${fleet.url}/clusters/edge${path}${query}`, tls))
    atHub = Math.max(atHub, fleet.hub.plane.server.unreadBytes())
    atEdge = Math.max(atEdge, edge.server.unreadBytes())
  }
  const { unreadBytesPerUserMax } = apiServerLimits
  assert.ok(atHub + atEdge > 0, 'something waits')
  assert.ok(atHub <= unreadBytesPerUserMax, `${atHub} bytes at the hub`)
  assert.ok(atEdge <= edgeBytesMax, `${atEdge} bytes at the edge`)
  using transport = await fleet.as({ commonName: 'olga', organizations: masters })
  const asked = {
    method: 'GET',
    path: '/clusters/edge/api/v1/namespaces/default',
    headers: {},
  } as const
  const answer = await transport.send(asked, AbortSignal.timeout(30_000))
  assert.equal(answer.status, 200, String(await readBody(answer.body)))
  stack.dispose()
  await until(() => fleet.hub.plane.server.unreadBytes() + edge.server.unreadBytes() === 0)
})
