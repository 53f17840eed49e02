import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import type { NetworkPolicy, Pod } from '@skerry/api'
import { seededRandom, silentLogger, simulatedClock, type SimulatedClock } from '@skerry/base'
import { createCluster, resources, type ClusterClient, type Transport } from '@skerry/client'
import { startTestApiServer, until } from '@skerry/testing'
import type { Nft } from '../nftables/nft.ts'
import { pod, policy, type PodDraft } from '../testing/policy-objects.ts'
import { createPolicyScene, type PolicyScene } from '../testing/policy-scene.ts'
import { createNetworkPolicies, type NetworkPolicies } from './network-policies.ts'
import { policySnapshot } from './policy-snapshot.ts'
import { servedPodPeers } from './pod-peer-kind.ts'
import { renderNoPolicies } from './policy-table.ts'

const skip = process.getuid?.() !== 0 && 'needs root'
const names = ['shop/web', 'shop/front', 'shop/far']
const web = { matchLabels: { app: 'web' } }
const never = new AbortController().signal
const onlyFar = policy('shop/only-far', {
  podSelector: web,
  policyTypes: ['Ingress'],
  ingress: [{ from: [{ podSelector: { matchLabels: { app: 'far' } } }] }],
})

/** Returns a pod as in the API; `podIP` is its address there. */
function draftOf(path: string, podIP = '', draft: PodDraft = {}): Pod {
  const made = pod(path, podIP, { labels: { app: path.slice(5) }, ...draft })
  return { ...made, metadata: { ...made.metadata, uid: `uid of ${path}` } }
}

interface Bench extends AsyncDisposable {
  readonly api: ClusterClient
  readonly clock: SimulatedClock
  /** Starts the node's process, until it is stopped. With `isCut` it never reaches the API. */
  start(nft: Nft, options?: { isCut?: boolean }): NetworkPolicies
  stop(): Promise<void>
  /** Waits until the node knows the policies, without advancing time, so that it does not give up. */
  heard(policies: NetworkPolicies): Promise<void>
  /** Advances time until it has happened. */
  until<T>(what: Promise<T>): Promise<T>
}

async function createBench(): Promise<Bench> {
  await using stack = new AsyncDisposableStack()
  const clock = simulatedClock()
  const builtin = await builtinKinds()
  const kinds = [...builtin, servedPodPeers(builtin)]
  const server = stack.use(await startTestApiServer({ kinds, namespaces: ['shop'] }))
  const directory = await mkdtemp(join(tmpdir(), 'skerry-policies-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const clusterBy = (transport: Transport) =>
    createCluster(transport, { log: silentLogger, clock, userAgent: 'test' })
  const cut: Transport = { send: () => Promise.reject(new Error('connection lost')) }
  let running: { stop: AbortController; done: Promise<void> } | undefined
  const stop = async (): Promise<void> => {
    running?.stop.abort(new Error('stopped'))
    await running?.done
    running = undefined
  }
  stack.defer(stop)
  const owned = stack.move()
  return {
    api: clusterBy(server.transport),
    clock,
    start(nft, { isCut = false } = {}) {
      const policies = createNetworkPolicies('a', {
        cluster: clusterBy(isCut ? cut : server.transport),
        nft,
        snapshot: policySnapshot(join(directory, 'policies.json')),
        clock,
        random: seededRandom(1),
        log: silentLogger,
      })
      const controller = new AbortController()
      running = { stop: controller, done: policies.run(controller.signal) }
      return policies
    },
    stop,
    heard: (policies) => policies.whenKept(draftOf('shop/nobody'), AbortSignal.timeout(60_000)),
    async until(what) {
      let isDone = false
      const done = (): void => void (isDone = true)
      what.then(done, done)
      while (!isDone) {
        await clock.advance(50)
        await nextTurn()
      }
      return what
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function create(api: ClusterClient, made: Pod): Promise<void> {
  const { status, metadata, spec } = made
  const containers = spec?.containers.map((each) => ({ ...each, image: 'app:1' })) ?? []
  const { uid: _uid, ...meta } = metadata
  const client = api.resource(resources.pods)
  const sent = { ...made, metadata: meta, spec: { ...spec, containers } }
  const { metadata: created } = await client.create(sent, never)
  const key = { namespace: 'shop', name: created.name ?? '' }
  await client.patch({ ...key, subresource: 'status', type: 'merge', patch: { status } }, never)
}

function hears(scene: PolicyScene, from: string, isExpected: boolean, to = 'shop/web') {
  return scene.hears({ from, to, port: 80, isExpected })
}

test('rules hold before a pod starts, and where it comes up next', { skip }, async (t) => {
  await using scene = await createPolicyScene(names)
  await using bench = await createBench()
  const { api } = bench
  const nft: Nft = { apply: (script) => scene.load(script), fingerprint: async () => '' }
  const at = (name: string) => scene.addressOf(name)
  await api.resource(resources.networkPolicies).create(onlyFar, never)
  // The API knows this node's pods without an address, and the other node's with one.
  await create(api, draftOf('shop/web'))
  await create(api, draftOf('shop/far', at('shop/far'), { node: 'b' }))

  await t.test(
    'a pod whose address the API does not know is isolated when it may start',
    async () => {
      assert.equal(await hears(scene, 'shop/front', true), true)
      const policies = bench.start(nft)
      await bench.heard(policies)
      policies.placed(draftOf('shop/web'), at('shop/web'))
      await bench.until(policies.whenKept(draftOf('shop/web'), never))
      assert.equal(await hears(scene, 'shop/front', false), false)
      assert.equal(await hears(scene, 'shop/far', true), true)
    },
  )

  await t.test(
    "after a reboot without the API the rules are there again, at the pod's new address",
    async () => {
      await bench.until(bench.clock.sleep(10_000, never))
      await bench.stop()
      await scene.load(renderNoPolicies())
      assert.equal(await hears(scene, 'shop/front', true), true)
      const policies = bench.start(nft, { isCut: true })
      // The pods started in another order.
      policies.placed(draftOf('shop/front'), at('shop/web'))
      policies.placed(draftOf('shop/web'), at('shop/front'))
      await bench.until(policies.whenKept(draftOf('shop/web'), never))
      assert.equal(await hears(scene, 'shop/web', false, 'shop/front'), false)
      assert.equal(await hears(scene, 'shop/far', true, 'shop/front'), true)
      assert.equal(await hears(scene, 'shop/front', true, 'shop/web'), true)
    },
  )

  await t.test('a change that reaches the process before it ends is not forgotten', async () => {
    await bench.until(bench.clock.sleep(10_000, never))
    await bench.stop()
    bench.start(nft, { isCut: true })
    await bench.until(bench.clock.sleep(10_000, never))
    assert.equal(await hears(scene, 'shop/web', false, 'shop/front'), false)
  })

  await t.test('labels that change elsewhere are followed', async () => {
    await bench.stop()
    const policies = bench.start(nft)
    await bench.heard(policies)
    policies.placed(draftOf('shop/web'), at('shop/web'))
    await bench.until(policies.whenKept(draftOf('shop/web'), never))
    const key = { namespace: 'shop', name: 'far' }
    const patch = { metadata: { labels: { app: 'other' } } }
    await api.resource(resources.pods).patch({ ...key, type: 'merge', patch }, never)
    await until(async () => {
      await bench.until(bench.clock.sleep(100, never))
      return !(await hears(scene, 'shop/far', false))
    })
  })
})

/** A kernel that refuses this many scripts. */
function refusing(times: number): Nft & { loaded: string[] } {
  const loaded: string[] = []
  let left = times
  return {
    loaded,
    async apply(script) {
      if (left-- > 0) throw new Error('no memory')
      loaded.push(script)
    },
    fingerprint: async () => '',
  }
}

test('a pod waits until the kernel has taken the rules', async () => {
  await using bench = await createBench()
  await bench.api.resource(resources.networkPolicies).create(onlyFar, never)
  const nft = refusing(3)
  const policies = bench.start(nft)
  await bench.heard(policies)
  policies.placed(draftOf('shop/web'), '10.42.0.7')
  await bench.until(policies.whenKept(draftOf('shop/web'), never))
  assert.match(nft.loaded.join(''), /10\.42\.0\.7/)
})

test('rules of policies that another program flushed are written again, as a whole', async () => {
  await using bench = await createBench()
  await bench.api.resource(resources.networkPolicies).create(onlyFar, never)
  const loaded: string[] = []
  let isThere = false
  const policies = bench.start({
    async apply(script) {
      loaded.push(script)
      isThere = true
    },
    fingerprint: async () => (isThere ? 'as applied' : ''),
  })
  await bench.heard(policies)
  policies.placed(draftOf('shop/web'), '10.42.0.7')
  await bench.until(policies.whenKept(draftOf('shop/web'), never))
  const before = loaded.length
  await bench.until(bench.clock.sleep(30_000, never))
  assert.equal(loaded.length, before, 'nobody changed anything')
  isThere = false
  await bench.until(bench.clock.sleep(11_000, never))
  assert.equal(loaded.length, before + 1)
  assert.match(loaded.at(-1) ?? '', /^add table ip skerry-policy[^]*10\.42\.0\.7/)
})

const free: readonly [name: string, policies: NetworkPolicy[], isCut: boolean][] = [
  [
    'no policy selects',
    [policy('shop/other', { podSelector: { matchLabels: { app: 'no' } } })],
    false,
  ],
  ['comes up where there is no policy', [], false],
  ['comes up on a new node that never heard of any', [onlyFar], true],
]
for (const [name, existing, isCut] of free) {
  test(`a pod starts, although the kernel takes nothing, when it ${name}`, async () => {
    await using bench = await createBench()
    for (const each of existing)
      await bench.api.resource(resources.networkPolicies).create(each, never)
    const nft = refusing(Infinity)
    const policies = bench.start(nft, { isCut })
    if (!isCut) await bench.heard(policies)
    policies.placed(draftOf('shop/web'), '10.42.0.7')
    await bench.until(policies.whenKept(draftOf('shop/web'), never))
    assert.deepEqual(nft.loaded, [])
  })
}
