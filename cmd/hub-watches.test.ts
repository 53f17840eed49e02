import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap } from '@skerry/api'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createInformer,
  resources,
  type Transport,
  type WatchEvent,
} from '@skerry/client'
import type { TestApiServer } from '@skerry/testing'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestAgent,
  type TestHub,
} from './test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(30_000)
const operator = { commonName: 'olga', organizations: ['system:masters'] }
const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }

async function startFleet() {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestEdge())
  const fleet = stack.use(await startTestHub())
  const agent = stack.use(await startTestAgent(fleet, { name: 'edge', api: edge.api }))
  await untilCluster(
    fleet,
    'edge',
    ({ Ready, Connected }) => Ready === 'True' && Connected === 'True',
  )
  const transport = stack.use(await fleet.as(operator, '/clusters/edge'))
  const asked: string[] = []
  const counting: Transport = {
    send(request, signal) {
      asked.push(request.path)
      return transport.send(request, signal)
    },
  }
  const configMaps = createCluster(counting, deps).resource(resources.configMaps)
  const owned = stack.move()
  const dispose = () => owned.disposeAsync()
  return { edge, fleet, agent, configMaps, asked, [Symbol.asyncDispose]: dispose }
}

async function make({ objects }: TestApiServer, name: string, data = {}): Promise<void> {
  const object: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data,
  }
  await objects.create({ group: '', resource: 'configmaps' }, { ...object })
}

/** Cuts the tunnel, and resolves when there is another. */
async function cut(fleet: TestHub, agent: TestAgent): Promise<void> {
  const back = agent.connected()
  fleet.hub.tunnels.closeIdentity('edge', 'a digger found the cable')
  await back
}

/** Names of what was added, one after the other. */
async function* added(events: AsyncIterable<WatchEvent<ConfigMap>>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'ADDED') yield event.object.metadata.name ?? ''
  }
}

test('a watch goes on when its tunnel breaks, and when its agent is another', async () => {
  await using all = await startFleet()
  const { edge, fleet, agent, configMaps } = all
  const { metadata } = await configMaps.list({ namespace: 'default' }, soon())
  const request = { namespace: 'default', resourceVersion: metadata.resourceVersion ?? '' }
  const names = added(configMaps.watch(request, soon()))
  const next = async (): Promise<unknown> => (await names.next()).value
  await make(edge, 'first')
  assert.equal(await next(), 'first')
  await cut(fleet, agent)
  // While it is away, and when it is back.
  await make(edge, 'second', { text: 'x'.repeat(400_000) })
  assert.equal(await next(), 'second')
  const directory = `${fleet.directory}/another`
  await using another = await startTestAgent(fleet, { name: 'edge', api: edge.api, directory })
  await another.connected()
  await agent[Symbol.asyncDispose]()
  await make(edge, 'third')
  assert.equal(await next(), 'third')
  await names.return(undefined)
})

test('an informer hears of each change once, and of no break', async () => {
  await using all = await startFleet()
  const { edge, fleet, agent, configMaps, asked } = all
  await make(edge, 'before')
  const informer = createInformer(configMaps, { namespace: 'default' }, deps)
  const seen: string[] = []
  using _listening = informer.onChange(({ type, object }) => {
    seen.push(`${type} ${object.metadata.name}`)
  })
  const stop = new AbortController()
  const running = informer.run(stop.signal)
  await informer.whenSynced(soon())
  for (const name of ['a', 'b', 'c']) {
    await cut(fleet, agent)
    await make(edge, name)
    while (!informer.get({ namespace: 'default', name })) await systemClock.sleep(5, soon())
  }
  stop.abort(new Error('seen enough'))
  await assert.rejects(running)
  assert.equal(asked.filter((path) => path.includes('watch=true')).length, 1, asked.join('\n'))
  assert.deepEqual(seen, ['added before', 'added a', 'added b', 'added c'])
})
