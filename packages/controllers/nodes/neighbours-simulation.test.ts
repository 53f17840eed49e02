import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, simulatedClock, silentLogger, type Random } from '@skerry/base'
import type { Lease, Node } from '@skerry/api'
import { createRing, Neighbours, wordAnnotation, wordText, type Word } from '@skerry/neighbours'
import type { Heartbeat } from './node-health.ts'
import { judgeNodes, type Standing } from './standing.ts'

const label = 'unit'
const site = 'the site'
/** The promise to people: a node that died is known to be dead after this time. */
const deadWithinMs = 30_000

interface Trouble {
  /** Nodes that say whatever they like. */
  readonly liars?: ReadonlySet<string>
  /** Nodes that answer late, but within the time. */
  readonly slow?: ReadonlySet<string>
}

/** The nodes of one unit, their links, and a site that hears their leases. */
class Unit {
  readonly clock = simulatedClock()
  readonly names: readonly string[]
  readonly random: Random
  readonly #trouble: Trouble
  readonly #nodes = new Map<string, Neighbours>()
  readonly #cut = new Set<string>()
  readonly #off = new Set<string>()
  readonly #touched = new Set<string>()
  readonly #leases = new Map<string, Lease>()
  readonly #heartbeats = new Map<string, Heartbeat>()
  readonly #shown = new Map<string, string>()
  readonly #stop = new AbortController()

  constructor(count: number, seed: number, trouble: Trouble = {}) {
    this.random = seededRandom(seed)
    this.#trouble = trouble
    this.names = Array.from({ length: count }, (_, index) => `n${index}`)
    for (const name of this.names) this.#start(name)
  }

  #start(name: string): void {
    const { clock, random } = this
    const node: Neighbours = new Neighbours(name, {
      clock,
      random,
      log: silentLogger,
      onWord: () => this.#renew(name),
      ask: async ({ name: asked }, signal) => {
        await clock.sleep(this.#delayMs(asked), signal)
        // A lost packet is silence; a refused one comes back at once.
        if (!this.#reaches(name, asked))
          await clock.sleep(this.random.next() < 0.5 ? 10_000 : 0, signal)
        if (!this.#reaches(name, asked)) throw new Error('No route')
        const answer = this.#nodes.get(asked)?.answer()
        if (answer === undefined || !this.#isLiar(asked)) return answer
        return { word: this.#lie(asked), doubted: this.names.slice(0, 16) }
      },
    })
    node.setGroup(this.names.map((each) => ({ name: each, address: each, port: 1 })))
    this.#nodes.set(name, node)
    void node.run(this.#stop.signal).catch(() => undefined)
    void this.#renewForever(name).catch(() => undefined)
  }

  async #renewForever(name: string): Promise<void> {
    await this.clock.sleep(this.random.next() * 10_000, this.#stop.signal)
    for (;;) {
      this.#renew(name)
      await this.clock.sleep(10_000, this.#stop.signal)
    }
  }

  #renew(name: string): void {
    if (!this.#reaches(name, site)) return
    const word = this.#isLiar(name) ? this.#lie(name) : this.#nodes.get(name)?.word
    if (word === undefined) return
    this.#leases.set(name, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, annotations: { [wordAnnotation]: wordText(word) } },
      // Years off, and never the same: nobody may compare it with a clock.
      spec: { renewTime: new Date(this.random.next() * 4e12).toISOString() },
    })
  }

  #isLiar(name: string): boolean {
    return this.#trouble.liars?.has(name) === true
  }

  /** It misses everybody but one. */
  #lie(name: string): Word {
    const others = createRing(this.names).askedBy(name)
    return { seen: others.slice(0, 1), missed: others.slice(1) }
  }

  #delayMs(name: string): number {
    return this.#trouble.slow?.has(name) === true
      ? 500 + this.random.next() * 1_400
      : 1 + this.random.next() * 40
  }

  #reaches(from: string, to: string): boolean {
    return !this.#off.has(from) && !this.#off.has(to) && !this.#cut.has(`${from} ${to}`)
  }

  /** Cuts one direction, or heals it. */
  setCut(from: string, to: string, isCut: boolean): void {
    this.#touched.add(to)
    if (isCut) this.#cut.add(`${from} ${to}`)
    else this.#cut.delete(`${from} ${to}`)
  }

  setOff(name: string, isOff: boolean): void {
    this.#touched.add(name)
    if (isOff) this.#off.add(name)
    else this.#off.delete(name)
  }

  /** Returns what the site makes of the nodes now. */
  look(): ReadonlyMap<string, Standing> {
    const nowMs = this.clock.monotonicMs()
    for (const [name, lease] of this.#leases) {
      const sign = String(lease.spec?.renewTime)
      const known = this.#heartbeats.get(name)
      if (known?.sign === sign) continue
      this.#heartbeats.set(name, { sign, seenMs: nowMs, isFresh: known !== undefined })
    }
    const judged = judgeNodes({
      label,
      nodes: this.names.map((name) => this.#node(name)),
      leaseOf: (name) => this.#leases.get(name),
      heartbeatOf: (name) => this.#heartbeats.get(name),
      nowMs,
    })
    const statuses = { seen: 'True', dead: 'False', open: 'Unknown' } as const
    for (const [name, { verdict }] of judged) {
      if (verdict) this.#shown.set(name, statuses[verdict.kind])
    }
    return new Map([...judged].map(([name, { standing }]) => [name, standing]))
  }

  #node(name: string): Node {
    const status = this.#shown.get(name) ?? 'Unknown'
    const conditions = [{ type: 'SeenByNeighbours', status }]
    const metadata = { name, labels: { [label]: 'a' } }
    return { apiVersion: 'v1', kind: 'Node', metadata, status: { conditions } }
  }

  /** Returns the honest voters that see anybody and whose word reaches the site, by whether they reach the node. */
  votersOn(name: string): { readonly seeing: string[]; readonly missing: string[]; all: number } {
    const ring = createRing(this.names)
    const all = ring.votersOn(name).filter((each) => !this.#off.has(each))
    const heard = all.filter(
      (each) =>
        !this.#isLiar(each) &&
        ring.askedBy(each).some((asked) => this.#reaches(each, asked)) &&
        this.#reaches(each, site),
    )
    const seeing = heard.filter((each) => this.#reaches(each, name))
    return { seeing, missing: heard.filter((each) => !seeing.includes(each)), all: all.length }
  }

  /** Returns true if the node has run all the time and was reached by everybody, except perhaps by the site. */
  isUntouched(name: string): boolean {
    return !this.#touched.has(name)
  }

  isOff(name: string): boolean {
    return this.#off.has(name)
  }

  deadFor(name: string): ReadonlySet<string> {
    return this.#nodes.get(name)?.dead ?? new Set()
  }

  isConnected(name: string): boolean {
    return this.#reaches(name, site)
  }

  /** Passes time, and calls back each second. */
  async pass(ms: number, onSecond: () => void = () => {}): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
      await this.clock.advance(1_000)
      onSecond()
    }
  }

  end(): void {
    this.#stop.abort(new Error('The test has ended'))
  }
}

function standingsIn(unit: Unit): Record<string, Standing> {
  return Object.fromEntries(unit.look())
}

/** Passes time with a look each second, and returns what the site thinks at the end. */
async function after(unit: Unit, ms: number): Promise<Record<string, Standing>> {
  await unit.pass(ms, () => unit.look())
  return standingsIn(unit)
}

test('the only node of a group is judged by its own signs alone', async () => {
  const unit = new Unit(1, 1)
  await after(unit, 60_000)
  unit.setOff('n0', true)
  assert.deepEqual(await after(unit, 40_000), { n0: 'heard' })
  assert.deepEqual(await after(unit, 25_000), { n0: 'silent' })
  unit.end()
})

test('of two nodes, one keeps the other, and never declares it dead', async () => {
  const unit = new Unit(2, 2)
  await after(unit, 60_000)
  unit.setCut('n1', site, true)
  assert.deepEqual(await after(unit, 120_000), { n0: 'heard', n1: 'seen' })
  unit.setOff('n1', true)
  assert.deepEqual(await after(unit, 120_000), { n0: 'heard', n1: 'silent' })
  assert.deepEqual([...unit.deadFor('n0')], ['n1'], 'its own traffic follows its own sight')
  unit.end()
})

test('in a group that is split, the smaller part declares nobody dead', async () => {
  const unit = new Unit(5, 3)
  await after(unit, 60_000)
  const part = ['n0', 'n1']
  const rest = ['n2', 'n3', 'n4']
  for (const a of part) {
    for (const b of rest) {
      unit.setCut(a, b, true)
      unit.setCut(b, a, true)
    }
  }
  for (const name of rest) unit.setCut(name, site, true)
  const standings = await after(unit, 120_000)
  assert.deepEqual(
    rest.map((name) => standings[name]),
    ['silent', 'silent', 'silent'],
  )
  for (const name of part) assert.deepEqual([...unit.deadFor(name)], [], name)
  unit.end()
})

test('the larger part of a split group agrees that the smaller one is dead, and takes that back', async () => {
  const unit = new Unit(5, 4)
  await after(unit, 60_000)
  const cut = (isCut: boolean): void => {
    for (const a of ['n0', 'n1']) {
      for (const b of ['n2', 'n3', 'n4', site]) {
        unit.setCut(a, b, isCut)
        unit.setCut(b, a, isCut)
      }
    }
  }
  cut(true)
  const standings = await after(unit, deadWithinMs)
  assert.deepEqual([standings['n0'], standings['n1']], ['dead', 'dead'])
  for (const name of ['n2', 'n3', 'n4']) {
    assert.deepEqual([...unit.deadFor(name)].toSorted(), ['n0', 'n1'], name)
  }
  cut(false)
  const healed = await after(unit, 20_000)
  assert.deepEqual(
    Object.values(healed),
    Array.from({ length: 5 }, () => 'heard'),
  )
  for (const name of unit.names) assert.deepEqual([...unit.deadFor(name)], [], name)
  unit.end()
})

test('nodes that die one after the other are found dead as long as two others are left', async () => {
  const unit = new Unit(5, 5)
  await after(unit, 60_000)
  for (const name of ['n0', 'n1', 'n2']) {
    unit.setOff(name, true)
    assert.equal((await after(unit, deadWithinMs))[name], 'dead', name)
  }
  unit.setOff('n3', true)
  assert.equal((await after(unit, 120_000))['n3'], 'silent')
  unit.end()
})

interface Play {
  readonly count: number
  readonly seed: number
  readonly steps: number
}

/** Draws troubles from a seed, and checks what is promised each second. */
async function play({ count, seed, steps }: Play): Promise<void> {
  const draw = seededRandom(seed * 7 + count)
  const pick = (): string => `n${Math.floor(draw.next() * count)}`
  const liars = new Set(count >= 3 && draw.next() < 0.7 ? [pick()] : [])
  const slow = new Set(draw.next() < 0.5 ? [pick()] : [])
  const unit = new Unit(count, seed, { liars, slow })
  await unit.pass(60_000, () => unit.look())
  for (let step = 0; step < steps; step += 1) {
    const calmFromMs = unit.clock.monotonicMs() + deadWithinMs
    disturb(unit, { draw, pick, liars })
    await unit.pass(70_000, () =>
      check(unit, { seed, isCalm: unit.clock.monotonicMs() >= calmFromMs }),
    )
  }
  unit.end()
}

interface Draw {
  readonly draw: Random
  readonly pick: () => string
  readonly liars: ReadonlySet<string>
}

function disturb(unit: Unit, { draw, pick, liars }: Draw): void {
  const kind = draw.next()
  const name = pick()
  unit.clock.jump((draw.next() - 0.5) * 1e12)
  if (kind < 0.3) unit.setCut(name, site, draw.next() < 0.7)
  else if (kind < 0.6) unit.setCut(name, pick(), draw.next() < 0.7)
  else if (!liars.has(name)) unit.setOff(name, draw.next() < 0.6)
}

function check(unit: Unit, { seed, isCalm }: { seed: number; isCalm: boolean }): void {
  const standings = unit.look()
  if (!isCalm) return
  for (const name of unit.names) {
    const standing = standings.get(name)
    const { seeing, missing, all } = unit.votersOn(name)
    const at = `${unit.names.length} nodes, seed ${seed}, ${name} at ${unit.clock.monotonicMs()} ms: seen by ${seeing.join()}, missed by ${missing.join()}`
    // A single liar may add one vote to either side.
    if (seeing.length > missing.length + 1) {
      assert.notEqual(standing, 'dead', at)
      assert.notEqual(standing, 'silent', at)
    }
    if (unit.isUntouched(name)) assert.notEqual(standing, 'dead', at)
    const isClear = unit.isOff(name) && missing.length >= 2 && missing.length * 2 > all + 1
    if (isClear) assert.equal(standing, 'dead', at)
    if (unit.isConnected(name)) assert.equal(standing, 'heard', at)
  }
}

const plays = [
  { count: 1, seeds: 3, steps: 4 },
  { count: 2, seeds: 10, steps: 4 },
  { count: 3, seeds: 25, steps: 4 },
  { count: 5, seeds: 12, steps: 4 },
  { count: 50, seeds: 1, steps: 1 },
]

test('a node that most neighbours see is never given up, and a dead one is in time', async () => {
  for (const { count, seeds, steps } of plays) {
    for (let seed = 1; seed <= seeds; seed += 1) await play({ count, seed, steps })
  }
})
