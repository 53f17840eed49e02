import assert from 'node:assert/strict'
import { seededRandom, type Random } from '@skerry/base'
import {
  firstRecords,
  planHandover,
  type NodeRecord,
  type ParentRecord,
  type Side,
  type UnitRecord,
} from '../handover.ts'

interface SimulatedNode {
  record: NodeRecord
  /** The pods whose containers run. */
  readonly runs: Set<string>
  isDead: boolean
  seen: { parent?: ParentRecord; unit?: UnitRecord }
}

interface SimulatedPlane<T> {
  record: T
  /** Names of all objects that it holds. */
  objects: Set<string>
}

/**
 * A parent, a unit's control plane and three nodes, whose statements come late, twice, in any order or never. Work that a
 * crash interrupts is half done, and its record is not written. Every write and each look of a node checks what must hold.
 */
export class HandoverWorld {
  wanted: Side = 'parent'
  readonly #random: Random
  readonly #seed: number
  readonly #parent: SimulatedPlane<ParentRecord> = {
    record: firstRecords.parent,
    objects: new Set(),
  }
  readonly #unit: SimulatedPlane<UnitRecord> = { record: firstRecords.unit, objects: new Set() }
  readonly #nodes: readonly SimulatedNode[] = [1, 2, 3].map(() => ({
    record: firstRecords.node,
    runs: new Set(),
    isDead: false,
    seen: {},
  }))
  readonly #contents = new Map<string, ReadonlySet<string>>()
  /** Everything that a side has ever written while it acted. */
  readonly #written = new Set<string>()
  readonly #said = { parent: [firstRecords.parent], unit: [firstRecords.unit] }
  #parentSaw: UnitRecord | undefined
  #unitSaw: ParentRecord | undefined
  #hasFaults = true

  constructor(seed: number) {
    this.#seed = seed
    this.#random = seededRandom(seed)
  }

  want(side: Side): void {
    this.wanted = side
  }

  /** From now on all are alive, and each hears the newest statements. */
  endFaults(): void {
    this.#hasFaults = false
    for (const node of this.#nodes) node.isDead = false
  }

  /** Does one thing that may happen. */
  playOne(): void {
    const things = [
      () => this.#stepParent(),
      () => this.#stepParent(),
      () => this.#stepUnit(),
      () => this.#stepUnit(),
      () => this.#stepNode(this.#pick(this.#nodes)),
      () => this.#stepNode(this.#pick(this.#nodes)),
      () => this.#write(),
      () => this.#hear(),
      () => this.#hear(),
      () => this.#hear(),
      () => this.#change(),
    ]
    this.#pick(things)()
    this.#check()
  }

  /** Everybody hears everybody, and does one step. */
  playAll(): void {
    this.#hearAll()
    this.#stepParent()
    this.#hearAll()
    this.#stepUnit()
    this.#hearAll()
    for (const node of this.#nodes) this.#stepNode(node)
    this.#write()
    this.#check()
  }

  isSettled(): boolean {
    const { phase } = this.#parent.record
    const hasSide = this.wanted === 'parent' ? phase === 'own' : this.#unit.record.phase === 'open'
    return hasSide && this.#nodes.every(({ record }) => record.follows === this.wanted)
  }

  describe(): string {
    const { record: parent } = this.#parent
    const { record: unit } = this.#unit
    const nodes = this.#nodes.map(({ record }) => record.follows).join(' ')
    return `parent ${parent.phase} ${parent.generation}, unit ${unit.phase} ${unit.generation}, nodes ${nodes}`
  }

  #stepParent(): void {
    const { record } = this.#parent
    const step = planHandover.parent({
      wanted: this.wanted,
      parent: record,
      unit: this.#parentSaw,
    })
    if (step.act === 'none') return
    if (step.act === 'note') return this.#sayParent(step.record)
    if (step.act === 'pack') {
      const content = this.#keepContent(this.#parent.objects)
      if (!this.#crashes()) this.#sayParent({ ...record, content })
      return
    }
    const taken = this.#contents.get(step.content)
    assert.ok(taken, `seed ${this.#seed}: content ${step.content} is nowhere`)
    if (this.#crashes()) {
      const half = [...taken].filter(() => this.#random.next() < 0.5)
      this.#parent.objects = new Set([...this.#parent.objects, ...half])
      return
    }
    this.#parent.objects = new Set(taken)
    this.#sayParent(step.record)
  }

  #stepUnit(): void {
    const step = planHandover.unit({ unit: this.#unit.record, parent: this.#unitSaw })
    if (step.act === 'none') return
    if (step.act === 'note') return this.#sayUnit(step.record)
    if (step.act === 'seal') {
      const content = this.#keepContent(this.#unit.objects)
      const sealed = { generation: step.generation, phase: 'sealed', content } as const
      if (!this.#crashes()) this.#sayUnit(sealed)
      return
    }
    const filled = this.#contents.get(step.content)
    assert.ok(filled, `seed ${this.#seed}: content ${step.content} is nowhere`)
    // A store is filled aside, so that a crash leaves the old one.
    if (this.#crashes()) return
    this.#unit.objects = new Set(filled)
    this.#sayUnit(step.record)
  }

  /** A node takes its orders, and then starts and ends containers as the plane that it obeys has pods. */
  #stepNode(node: SimulatedNode): void {
    if (node.isDead) return
    const step = planHandover.node({ node: node.record, ...node.seen })
    if (step.act !== 'none') node.record = step.record
    const { follows } = node.record
    const { phase } = this.#unit.record
    if (follows === 'unit' && phase !== 'open' && phase !== 'sealed') return
    const { objects } = follows === 'unit' ? this.#unit : this.#parent
    const ended = [...node.runs].filter((pod) => !objects.has(pod))
    assert.deepEqual(ended, [], `seed ${this.#seed}: ends pods, ${this.describe()}`)
    for (const pod of objects) node.runs.add(pod)
  }

  #write(): void {
    if (this.#parent.record.phase === 'own') this.#writeTo(this.#parent.objects)
    if (this.#unit.record.phase === 'open') this.#writeTo(this.#unit.objects)
  }

  #writeTo(objects: Set<string>): void {
    const lost = [...this.#written].filter((name) => !objects.has(name))
    assert.deepEqual(lost, [], `seed ${this.#seed}: lost, ${this.describe()}`)
    const name = `pod-${this.#written.size}`
    this.#written.add(name)
    objects.add(name)
  }

  /** Somebody changes the level, or a node dies or comes back. */
  #change(): void {
    const node = this.#pick(this.#nodes)
    if (this.#random.next() < 0.5) node.isDead = !node.isDead
    else this.wanted = this.#pick(['parent', 'unit'])
  }

  /** One party hears one statement, of any age. */
  #hear(): void {
    const parent = this.#pickLate(this.#said.parent)
    const unit = this.#pickLate(this.#said.unit)
    const hearers = [
      () => (this.#parentSaw = unit),
      () => (this.#unitSaw = parent),
      ...this.#nodes.map((node) => () => (node.seen = { parent, unit })),
    ]
    this.#pick(hearers)()
  }

  #hearAll(): void {
    const { record: parent } = this.#parent
    const { record: unit } = this.#unit
    this.#parentSaw = unit
    this.#unitSaw = parent
    for (const node of this.#nodes) node.seen = { parent, unit }
  }

  #check(): void {
    const acts = [this.#parent.record.phase === 'own', this.#unit.record.phase === 'open']
    assert.notDeepEqual(acts, [true, true], `seed ${this.#seed}: both act, ${this.describe()}`)
  }

  #sayParent(record: ParentRecord): void {
    this.#parent.record = record
    this.#said.parent.push(record)
  }

  #sayUnit(record: UnitRecord): void {
    this.#unit.record = record
    this.#said.unit.push(record)
  }

  /** Names a content by its digest: no object is ever deleted here, so that its size tells it from all others. */
  #keepContent(objects: ReadonlySet<string>): string {
    const name = `content-of-${objects.size}`
    this.#contents.set(name, new Set(objects))
    return name
  }

  #crashes(): boolean {
    return this.#hasFaults && this.#random.next() < 0.3
  }

  #pick<T>(all: readonly T[]): T {
    const found = all[Math.floor(this.#random.next() * all.length)]
    assert.ok(found !== undefined)
    return found
  }

  /** Newer statements are heard more often. */
  #pickLate<T>(all: readonly T[]): T {
    const back = Math.floor(this.#random.next() ** 3 * all.length)
    const found = all[all.length - 1 - back]
    assert.ok(found !== undefined)
    return found
  }
}
