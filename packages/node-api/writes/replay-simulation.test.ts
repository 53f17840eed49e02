import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, silentLogger, systemClock, type Clock, type Random } from '@skerry/base'
import { until, watchApi, type JsonReply } from '@skerry/testing'
import { LocalApiScene } from '../testing/local-api-scene.ts'

/**
 * A node and its site, with cuts, lost answers, killed processes and a clock that jumps, all drawn from a seed. Each
 * write has a value of its own, so that the site's history shows whether it came, and how often.
 */
const maps = '/api/v1/namespaces/shop/configmaps'
const conflicts = '/apis/node.skerry.io/v1alpha1/conflicts'
const merge = { 'content-type': 'application/merge-patch+json' }
const names = ['m0', 'm1', 'm2']
const keys = ['k0', 'k1', 'k2', 'k3']
/** Timers of the node end sooner by this factor. */
const speed = 5

/** An acknowledged write of one value. */
interface Written {
  readonly value: string
  readonly name: string
  readonly key: string
}

class Simulation implements AsyncDisposable {
  readonly random: Random
  readonly scene: LocalApiScene
  readonly token: string
  /** Values of the node that the site must have, or name in a Conflict. */
  readonly written: Written[] = []
  /** How often the site's history has each value come into its place. */
  readonly arrivals = new Map<string, number>()
  readonly #stop = new AbortController()
  #watching: Promise<void> | undefined
  #count = 0

  private constructor(parts: { random: Random; scene: LocalApiScene; token: string }) {
    this.random = parts.random
    this.scene = parts.scene
    this.token = parts.token
  }

  static async start(seed: number, faults: Faults): Promise<Simulation> {
    const random = seededRandom(seed)
    const scene = await LocalApiScene.start({
      log: silentLogger,
      isStarted: false,
      accounts: [{ namespace: 'shop', name: 'app' }],
      kept: [],
      clock: faults.clock,
      fault: () => faults.next(random),
    })
    try {
      await scene.allowOfflineWrites()
      const token = await scene.writer('app')
      const simulation = new Simulation({ random, scene, token })
      for (const name of names) await simulation.cloudWrite(name)
      await scene.startNode()
      await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
      await until(async () => (await scene.ask(token, { path: maps })).status === 200)
      simulation.#watching = simulation.#watch()
      await simulation.#untilWritable()
      return simulation
    } catch (error) {
      await scene[Symbol.asyncDispose]()
      throw error
    }
  }

  pick<T>(all: readonly T[]): T {
    const found = all[Math.floor(this.random.next() * all.length)]
    if (found === undefined) throw new RangeError('Cannot pick from nothing')
    return found
  }

  /** Writes on the node. A refusal promises nothing. */
  async edgeWrite(): Promise<void> {
    const name = this.pick(names)
    const key = this.pick(keys)
    const value = this.#value('e')
    const drawn = this.random.next()
    const path = `${maps}/${name}`
    if (drawn < 0.1) {
      const { status } = await this.scene.ask(this.token, { method: 'DELETE', path })
      if (status === 200) this.#forget((each) => each.name === name)
      return
    }
    const body = { data: { [key]: value } }
    const patched = await this.scene.ask(this.token, {
      method: 'PATCH',
      path,
      body,
      headers: merge,
    })
    if (patched.status === 200) return this.#note({ name, key, value })
    // The clock may have left the time of the token.
    assert.ok([401, 404, 503].includes(patched.status), patched.text)
    if (patched.status !== 404) return
    const made = { metadata: { name }, ...body }
    const { status } = await this.scene.ask(this.token, { method: 'POST', path: maps, body: made })
    if (status === 201) this.#note({ name, key, value })
  }

  /** Writes at the site, and now and then deletes there. */
  async cloudWrite(name = this.pick(names)): Promise<void> {
    const path = `${maps}/${name}`
    if (this.random.next() < 0.1) {
      await this.scene.admin({ method: 'DELETE', path }).catch(ignoreMissing)
      return
    }
    const data = { [this.pick(keys)]: this.#value('c') }
    const made = { metadata: { name }, data }
    await this.scene
      .admin({ method: 'PATCH', path, body: { data }, headers: merge })
      .catch(() => this.scene.admin({ method: 'POST', path: maps, body: made }))
  }

  /** Waits until the node shows what the site has, and nothing of its own. */
  async settle(): Promise<void> {
    await until(async () => {
      const { body } = await this.scene.ask(this.token, { path: `${maps}?resourceVersion=0` })
      const there = (await this.scene.admin({ path: maps })).body.items
      const isPending = (item: JsonReply): boolean =>
        item.metadata.annotations?.['node.skerry.io/not-accepted'] !== undefined
      return (
        Array.isArray(body.items) &&
        !body.items.some(isPending) &&
        JSON.stringify(shown(body.items)) === JSON.stringify(shown(there))
      )
    })
  }

  /** Throws AssertionError with the value that is lost, or that came twice. */
  async check(): Promise<void> {
    await this.scene.cut()
    const away = await this.scene.ask(this.token, { path: maps })
    assert.equal(away.status, 200, away.text)
    const here = away.body.items
    const there = (await this.scene.admin({ path: maps })).body.items
    assert.deepEqual(shown(here), shown(there), 'the node and its site differ')
    const text = (await this.scene.admin({ path: conflicts })).text
    for (const { value, name, key } of this.written) {
      const isThere = this.arrivals.has(value) || text.includes(value)
      assert.ok(isThere, `${value} in ${key} of ${name} is lost`)
    }
    for (const [value, count] of this.arrivals) assert.equal(count, 1, `${value} came twice`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the simulation is over'))
    await this.#watching
    await this.scene[Symbol.asyncDispose]()
  }

  #value(side: string): string {
    this.#count += 1
    return `${side}${this.#count}.`
  }

  /** A later value of the same place takes the place of one that the site has not seen. */
  #note(written: Written): void {
    this.#forget(({ name, key }) => name === written.name && key === written.key)
    this.written.push(written)
  }

  #forget(isGone: (written: Written) => boolean): void {
    const kept = this.written.filter((each) => !isGone(each))
    this.written.splice(0, this.written.length, ...kept)
  }

  async #watch(): Promise<void> {
    const last = new Map<string, Record<string, string>>()
    const path = `${maps}?watch=1&resourceVersion=0`
    try {
      for await (const { type, object } of watchApi(
        this.scene.site.transport,
        path,
        this.#stop.signal,
      )) {
        const { name = '' } = object.metadata ?? {}
        const data: Record<string, string> = type === 'DELETED' ? {} : (object.data ?? {})
        const before = last.get(name) ?? {}
        last.set(name, data)
        for (const [key, value] of Object.entries(data)) {
          if (!value.startsWith('e') || before[key] === value) continue
          this.arrivals.set(value, (this.arrivals.get(value) ?? 0) + 1)
        }
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error
    }
  }

  /** The node learns of the policy and of the right by itself. */
  async #untilWritable(): Promise<void> {
    const { scene } = this
    await until(async () => {
      await scene.cut()
      const body = { data: { [keys[0] ?? '']: this.#value('e') } }
      const path = `${maps}/${names[0]}`
      const call = { method: 'PATCH', path, body, headers: merge } as const
      const { status } = await scene.ask(this.token, call)
      await scene.restore()
      return status === 200
    })
    await this.settle()
  }
}

class Faults {
  #jumpedMs = 0
  #share = 0

  readonly clock: Clock = {
    now: () => systemClock.now() + this.#jumpedMs,
    monotonicMs: () => systemClock.monotonicMs() * speed,
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
    setTimer: (ms, onTimer, options) => systemClock.setTimer(ms / speed, onTimer, options),
  }

  /** From now on, this share of the node's requests fails. */
  set share(share: number) {
    this.#share = share
  }

  /** Sets the clock of the node wrong by this much. */
  jump(ms: number): void {
    this.#jumpedMs = Math.round(ms)
  }

  next(random: Random): 'unsent' | 'unanswered' | 'none' {
    if (random.next() >= this.#share) return 'none'
    return random.next() < 0.5 ? 'unsent' : 'unanswered'
  }
}

function ignoreMissing(): void {}

function byText(one: readonly unknown[], other: readonly unknown[]): number {
  return String(one) < String(other) ? -1 : 1
}

function shown(items: readonly JsonReply[]): [string, string, object][] {
  return items.map(({ metadata, data = {} }) => [
    metadata.name,
    metadata.resourceVersion,
    Object.fromEntries(Object.entries(data).toSorted(byText)),
  ])
}

test('no acknowledged write is lost or applied twice, and node and site converge', async (context) => {
  for (const seed of [1, 2]) await context.test(`seed ${seed}`, () => play(seed))
})

async function play(seed: number): Promise<void> {
  const faults = new Faults()
  await using simulation = await Simulation.start(seed, faults)
  const { scene, random } = simulation
  for (let round = 0; round < 2; round += 1) {
    await scene.cut()
    for (let step = 0; step < 14; step += 1) {
      const drawn = random.next()
      if (drawn < 0.6) await simulation.edgeWrite()
      else if (drawn < 0.9) await simulation.cloudWrite()
      else if (drawn < 0.95) faults.jump((random.next() - 0.5) * 1_200_000)
      else await scene.crash()
    }
    faults.share = 0.3
    await scene.link.restore()
    for (let step = 0; step < 4; step += 1) {
      await simulation.cloudWrite()
      if (random.next() < 0.5) await scene.crash()
    }
    faults.share = 0
    await simulation.settle()
  }
  // The node tells the time of the site's tokens by its own clock.
  faults.jump(0)
  await simulation.check()
}
