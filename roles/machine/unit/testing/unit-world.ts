import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createMetrics,
  seededRandom,
  silentLogger,
  systemClock,
  systemRandom,
  type Random,
} from '@skerry/base'
import type { AuthorizedRequest } from '@skerry/apiserver'
import { planHandover, type NodeRecord } from '@skerry/edge-apps'
import { openSqliteStore, type Store } from '@skerry/store'
import { callApi, startTestApiServer, type TestApiServer } from '@skerry/testing'
import { HandoverActs } from '../../../site/units/handover-acts.ts'
import { UnitFence } from '../../../site/units/unit-fence.ts'
import { unitsPath, type UnitOrder } from '../../../site/units/unit-order.ts'
import { unitRoute } from '../../../site/units/unit-route.ts'
import { stepUnit } from '../step-unit.ts'
import { readState, unitPaths, writeState } from '../unit-state.ts'

const pod = '/api/v1/namespaces/default/pods/till'
const podKey = '/registry/core/pods/default/till'
const count = 'visits'

class CutOff extends Error {}

const signal = new AbortController().signal
const unitContext = {
  clock: systemClock,
  random: systemRandom,
  log: silentLogger,
  metrics: createMetrics(),
  signal,
}

/**
 * A parent with the real API server, fence and acts, and a unit with its real records and store, between which a link loses
 * requests and answers. The parent's store fails at any write, and either process may end at any step. A pod of the unit counts
 * every write of the side that acts.
 */
export class UnitWorld implements AsyncDisposable {
  wanted: NodeRecord['follows'] = 'parent'
  written = 0
  readonly #random: Random
  readonly #directory: string
  readonly #api: TestApiServer
  readonly #parent: { store: Store; guarded: Store; acts: HandoverActs }
  readonly #cuts: { isOn: boolean }

  private constructor(parts: {
    random: Random
    directory: string
    api: TestApiServer
    parent: { store: Store; guarded: Store; acts: HandoverActs }
    cuts: { isOn: boolean }
  }) {
    this.#random = parts.random
    this.#directory = parts.directory
    this.#api = parts.api
    this.#parent = parts.parent
    this.#cuts = parts.cuts
  }

  static async start(seed: number): Promise<UnitWorld> {
    await using stack = new AsyncDisposableStack()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-unit-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    const random = seededRandom(seed)
    const cuts = { isOn: false }
    const parent: { store: Store; guarded: Store; acts: HandoverActs }[] = []
    const api = stack.use(
      await startTestApiServer({
        encrypted: (inner) => {
          const store = failing(inner, () => cuts.isOn && random.next() < 0.1)
          parent.push(parentOf(store, directory))
          const write: Store['write'] = async (each) => {
            const { guarded = store } = parent[0] ?? {}
            return guarded.write(each)
          }
          return { ...unbound(inner), write, setPlan: () => undefined, isStale: async () => false }
        },
      }),
    )
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }
    await callApi(api.transport, { method: 'POST', path: '/api/v1/nodes', body: node })
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'till', annotations: { [count]: '0' } },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'busybox' }] },
    }
    await callApi(api.transport, { method: 'POST', path: pod.replace('/till', ''), body })
    const [first] = parent
    assert.ok(first)
    const world = new UnitWorld({ random, directory, api, parent: first, cuts })
    const owned = stack.move()
    return Object.assign(world, { [Symbol.asyncDispose]: () => owned.disposeAsync() })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#api[Symbol.asyncDispose]()
  }

  setFaults(isOn: boolean): void {
    this.#cuts.isOn = isOn
  }

  /** Does one thing that may happen. */
  async playOne(): Promise<void> {
    const things = [
      () => this.#stepParent(),
      () => this.#stepParent(),
      () => this.#stepUnit(),
      () => this.#stepUnit(),
      () => this.#writeAtParent(),
      () => this.#writeAtUnit(),
      () => this.#restartParent(),
      async () => {
        this.wanted = this.#chance(0.5) ? 'unit' : 'parent'
      },
    ]
    const play = things[Math.floor(this.#random.next() * things.length)]
    await this.#unlessCut(async () => play?.())
  }

  /** Each party does one step. */
  async playAll(): Promise<void> {
    await this.#stepParent()
    await this.#stepUnit()
    await this.#writeAtParent()
    await this.#writeAtUnit()
  }

  async isSettled(): Promise<boolean> {
    const { record } = await readState(this.#directory)
    const { phase } = this.#parent.acts.recordOf('hall')
    return this.wanted === 'parent' ? phase === 'own' : record.phase === 'open'
  }

  async describe(): Promise<string> {
    const { record } = await readState(this.#directory)
    const { phase } = this.#parent.acts.recordOf('hall')
    return `parent ${phase}, unit ${record.phase}, ${this.written} writes`
  }

  async #stepParent(): Promise<void> {
    const { acts } = this.#parent
    const parent = acts.recordOf('hall')
    const step = planHandover.parent({ wanted: this.wanted, parent, unit: acts.heardOf('hall') })
    const nodes = ['n1']
    if (step.act === 'note') await acts.note('hall', { record: step.record, nodes }, signal)
    if (step.act === 'pack') await acts.pack('hall', signal)
    if (step.act === 'take') await acts.take('hall', step, signal)
  }

  async #stepUnit(): Promise<void> {
    const state = await readState(this.#directory)
    const statement = JSON.stringify({ record: state.record, node: state.node })
    const answer = await this.#ask('POST', 'statement', statement)
    // The route's own answer.
    const order = JSON.parse(answer.toString()) as UnitOrder
    const next = await stepUnit(state, order, {
      dataDir: this.#directory,
      context: unitContext,
      fetch: async (digest, path) => writeFile(path, await this.#ask('GET', `contents/${digest}`)),
      closeSite: async () => undefined,
      abandonSite: async () => undefined,
    })
    this.#mayCut()
    if (next) await writeState(this.#directory, next)
    if (order.wants === undefined || order.wants !== state.record.content) return
    const path = unitPaths(this.#directory).content(order.wants)
    await this.#ask('PUT', `contents/${order.wants}`, await readFile(path))
  }

  /** A write of the parent is refused while it does not act; each that is not goes on from the last one of either side. */
  async #writeAtParent(): Promise<void> {
    const found = await callApi(this.#api.transport, { method: 'GET', path: pod })
    const seen = Number(found.body.metadata.annotations[count])
    const headers = { 'content-type': 'application/merge-patch+json' }
    const annotations = { [count]: String(seen + 1) }
    const body = { metadata: { annotations } }
    const patch = { method: 'PATCH', path: pod, headers, body } as const
    const { status } = await callApi(this.#api.transport, patch)
    if (status !== 200) return
    const { record } = await readState(this.#directory)
    assert.notEqual(record.phase, 'open', await this.describe())
    this.#count(seen)
  }

  async #writeAtUnit(): Promise<void> {
    const { record } = await readState(this.#directory)
    if (record.phase !== 'open') return
    assert.notEqual(this.#parent.acts.recordOf('hall').phase, 'own', await this.describe())
    const path = join(unitPaths(this.#directory).site, 'store.db')
    await using store = await openSqliteStore(path, {}, unitContext)
    const { entry } = await store.get(podKey)
    const object = JSON.parse(Buffer.from(entry?.value ?? '').toString())
    const seen = Number(object.metadata.annotations[count])
    object.metadata.annotations[count] = String(seen + 1)
    await store.write({ key: podKey, value: Buffer.from(JSON.stringify(object)) })
    this.#count(seen)
  }

  /** A write whose answer was cut off may have been counted. */
  #count(seen: number): void {
    assert.ok(seen >= this.written, `the acting side goes on from ${seen}, not ${this.written}`)
    this.written = seen + 1
  }

  /** A new process knows what is in the store and on the disk. */
  async #restartParent(): Promise<void> {
    const fence = new UnitFence()
    this.#parent.guarded = await fence.guard(this.#parent.store)
    this.#parent.acts = actsOf(fence, this.#directory)
  }

  async #ask(method: string, path: string, sent: string | Uint8Array = ''): Promise<Buffer> {
    this.#mayCut()
    const route = unitRoute(this.#parent.acts, {
      clusterCidr: '10.42.0.0/16',
      serviceCidr: '10.43.0.0/16',
      clusterDomain: 'cluster.local',
      nodeCidrMaskSize: 24,
    })
    const body = (async function* () {
      yield Buffer.from(sent)
    })()
    const user = { name: 'system:node:n1', groups: ['system:nodes'], extra: {} }
    const admitted = { request: { method, target: unitsPath + path, body }, user }
    // The route reads nothing else of a request.
    const answer = await route.serve(admitted as unknown as AuthorizedRequest)
    const pieces: Uint8Array[] = []
    const whole = answer.body instanceof Uint8Array ? [answer.body] : answer.body
    for await (const piece of whole) pieces.push(piece)
    this.#mayCut()
    return Buffer.concat(pieces)
  }

  #mayCut(): void {
    if (this.#cuts.isOn && this.#chance(0.15)) throw new CutOff('cut off')
  }

  async #unlessCut(play: () => Promise<void>): Promise<void> {
    try {
      await play()
    } catch (error) {
      if (!(error instanceof CutOff)) throw error
    }
  }

  #chance(share: number): boolean {
    return this.#random.next() < share
  }
}

function parentOf(
  store: Store,
  directory: string,
): { store: Store; guarded: Store; acts: HandoverActs } {
  const fence = new UnitFence()
  return { store, guarded: fence.wrap(store), acts: actsOf(fence, directory) }
}

function actsOf(fence: UnitFence, directory: string): HandoverActs {
  const context = { clock: systemClock, log: silentLogger }
  return new HandoverActs(fence, { directory: join(directory, 'units'), isShared: false }, context)
}

function unbound(inner: Store): Store {
  return new UnitFence().wrap(inner)
}

/** A store whose writes fail now and then, before or after they are durable. */
function failing(inner: Store, fails: () => boolean): Store {
  const write: Store['write'] = async (each) => {
    if (fails()) throw new CutOff('the store fails before the write')
    const result = await inner.write(each)
    if (fails()) throw new CutOff('the process ends after the write')
    return result
  }
  return { ...unbound(inner), write }
}
