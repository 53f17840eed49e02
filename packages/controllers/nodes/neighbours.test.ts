import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import type { Node, NodeCondition, Pod } from '@skerry/api'
import { resources } from '@skerry/client'
import { wordAnnotation, wordText } from '@skerry/neighbours'
import { startTestApiServer } from '@skerry/testing'
import { startControllerWorld, type ControllerWorld } from '../testing/controller-world.ts'
import { createNodeLifecycleController } from './node-lifecycle-controller.ts'

const label = 'unit'
const names = ['a', 'b', 'c']
const namespace = 'default'

/** Three nodes of one unit, of which some renew their leases with what they say of the others. */
class Shop implements AsyncDisposable {
  readonly clock = simulatedClock()
  readonly words = new Map<string, { seen: string[]; missed: string[] }>()
  readonly #world: ControllerWorld
  readonly #api: Awaited<ReturnType<typeof startTestApiServer>>
  #renewals = 0

  static async open(neighboursBy: string | undefined): Promise<Shop> {
    const shop = new Shop(await startTestApiServer(), neighboursBy)
    try {
      await shop.#fill()
      return shop
    } catch (error) {
      await shop[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(
    api: Awaited<ReturnType<typeof startTestApiServer>>,
    neighboursBy: string | undefined,
  ) {
    this.#api = api
    this.#world = startControllerWorld({
      transport: api.transport,
      controllers: ['taint-eviction-controller'],
      configured: [createNodeLifecycleController({ neighboursBy })],
      clock: this.clock,
    })
  }

  async #fill(): Promise<void> {
    const { signal } = this.#world
    const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-node-lease' } }
    await this.#world.client(resources.namespaces).create(space, signal)
    for (const name of names) {
      const metadata = { name, labels: { [label]: 'shop' } }
      const node = await this.#world
        .client(resources.nodes)
        .create({ apiVersion: 'v1', kind: 'Node', metadata, spec: {} }, signal)
      const conditions = [{ type: 'Ready', status: 'True' }]
      await this.#world
        .client(resources.nodes)
        .updateStatus({ ...node, status: { conditions } }, signal)
      const lease = { name, namespace: 'kube-node-lease' }
      await this.#world
        .client(resources.leases)
        .create(
          { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: lease, spec: {} },
          signal,
        )
    }
    for (const [name, seconds] of [
      ['default', 300],
      ['patient', 3_600],
    ] as const) {
      await this.#world.client(resources.pods).create(podOn('c', name, seconds), signal)
    }
    await this.#world.eventually(resources.pods, (pods) => {
      const ready = pods.filter(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
      )
      return ready.length === 2 ? true : undefined
    })
  }

  /** Passes time in which the nodes with words renew their leases. */
  async pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 5) {
      this.#renewals += 1
      for (const [name, word] of this.words) await this.#renew(name, wordText(word))
      await this.clock.advance(5_000)
    }
  }

  async #renew(name: string, text: string): Promise<void> {
    const renewTime = new Date(this.#renewals * 1_000).toISOString().replace('Z', '000Z')
    const patch = { metadata: { annotations: { [wordAnnotation]: text } }, spec: { renewTime } }
    const key = { name, namespace: 'kube-node-lease' }
    const { signal } = this.#world
    await this.#world.client(resources.leases).patch({ ...key, type: 'merge', patch }, signal)
  }

  async node(name: string): Promise<Node> {
    const { signal } = this.#world
    return this.#world.client(resources.nodes).get({ name }, signal)
  }

  async condition(name: string, type: string): Promise<NodeCondition | undefined> {
    const { status } = await this.node(name)
    return status?.conditions?.find((each) => each.type === type)
  }

  async isTainted(name: string): Promise<boolean> {
    const { spec } = await this.node(name)
    return (spec?.taints ?? []).some(({ effect }) => effect === 'NoExecute')
  }

  /** The pods that nobody has deleted, with their readiness. */
  async pods(): Promise<string[]> {
    const { signal } = this.#world
    const { items } = await this.#world.client(resources.pods).list({ namespace }, signal)
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata, status }) => {
        const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status
        return `${metadata.name} ${ready}`
      })
      .toSorted()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#world[Symbol.asyncDispose]()
    await this.#api[Symbol.asyncDispose]()
  }
}

function podOn(nodeName: string, name: string, tolerationSeconds: number): Pod {
  const key = 'node.kubernetes.io/unreachable'
  const toleration = { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { nodeName, containers: [{ name: 'main', image: 'a' }], tolerations: [toleration] },
  }
}

const all = (...others: string[]): { seen: string[]; missed: string[] } => ({
  seen: others,
  missed: [],
})

async function calmShop(neighboursBy: string | undefined): Promise<Shop> {
  const shop = await Shop.open(neighboursBy)
  shop.words.set('a', all('b', 'c'))
  shop.words.set('b', all('a', 'c'))
  shop.words.set('c', all('a', 'b'))
  await shop.pass(30)
  return shop
}

test('a silent node that its neighbours see keeps its pods and their traffic, and says who sees it', async () => {
  await using shop = await calmShop(label)
  shop.words.delete('c')
  await shop.pass(400)
  assert.equal((await shop.condition('c', 'Ready'))?.status, 'Unknown')
  assert.deepEqual(await shop.pods(), ['default True', 'patient True'])
  assert.equal(await shop.isTainted('c'), false)
  const shown = await shop.condition('c', 'SeenByNeighbours')
  assert.deepEqual([shown?.status, shown?.reason], ['True', 'MajoritySees'])
  assert.match(shown?.message ?? '', /^seen by (a, b|b, a); missed by nobody$/)
})

test('a node that its neighbours agree is dead loses its pods at once, and those that ask for longer keep their time', async () => {
  await using shop = await calmShop(label)
  shop.words.delete('c')
  shop.words.set('a', { seen: ['b'], missed: ['c'] })
  shop.words.set('b', { seen: ['a'], missed: ['c'] })
  await shop.pass(30)
  assert.deepEqual(await shop.pods(), ['patient False'])
  assert.equal((await shop.condition('c', 'SeenByNeighbours'))?.reason, 'MajorityMisses')
  shop.words.set('c', all('a', 'b'))
  shop.words.set('a', all('b', 'c'))
  shop.words.set('b', all('a', 'c'))
  await shop.pass(15)
  assert.equal((await shop.condition('c', 'SeenByNeighbours'))?.status, 'True')
})

test('one node alone takes nothing from another, and a node that is heard is not dead, whatever all say', async () => {
  await using shop = await calmShop(label)
  shop.words.set('a', { seen: ['b'], missed: ['c'] })
  shop.words.set('b', { seen: ['a'], missed: ['c'] })
  await shop.pass(100)
  assert.equal(await shop.isTainted('c'), false, 'it renews its lease')
  shop.words.delete('c')
  shop.words.set('b', all('a', 'c'))
  await shop.pass(40)
  assert.deepEqual(await shop.pods(), ['default True', 'patient True'])
})

test('without the option, words change nothing, and a condition that was left goes', async () => {
  await using shop = await calmShop(undefined)
  shop.words.set('a', { seen: ['b'], missed: ['c'] })
  shop.words.set('b', { seen: ['a'], missed: ['c'] })
  shop.words.delete('c')
  await shop.pass(40)
  assert.deepEqual(await shop.pods(), ['default True', 'patient True'])
  await shop.pass(25)
  assert.deepEqual(await shop.pods(), ['default False', 'patient False'], 'by the ordinary rule')
  assert.equal(await shop.condition('c', 'SeenByNeighbours'), undefined)
})
