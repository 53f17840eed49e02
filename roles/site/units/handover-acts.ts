import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  ExpectedError,
  exitCodes,
  makeDirectoryDurably,
  RecentMap,
  syncDirectory,
} from '@skerry/base'
import { equalJson, isJsonObject } from '@skerry/api'
import {
  firstRecords,
  type ParentRecord,
  type TakeResult,
  type UnitActs,
  type UnitFault,
  type UnitRecord,
  type UnitMaster,
} from '@skerry/edge-apps'
import { exists } from '../../runtime/files.ts'
import type { RoleContext } from '../../runtime/role-context.ts'
import { siteBounds } from '../limits-table.ts'
import { keptKeys } from './lent-guard.ts'
import { faultsOfShare } from './share-faults.ts'
import { chooseBlock } from './node-block.ts'
import { mastersIn, planStaff } from './staff-plan.ts'
import { planTake } from './take-plan.ts'
import {
  digestOf,
  readContent,
  readObjects,
  writeContent,
  type ReadObject,
} from './unit-content.ts'
import type { UnitFence, UnitHold } from './unit-fence.ts'
import type { UnitOrder, UnitStatement } from './unit-order.ts'
import {
  copyOf,
  namespacesOf,
  shareOf,
  withMark,
  withoutMark,
  type UnitShare,
} from './unit-share.ts'

const { movedMax, readsMax } = siteBounds.units.fence
const { heardMs, nodesMax, namedMax } = siteBounds.units.acts

export interface HandoverOptions {
  /** The directory of contents on their way. */
  readonly directory: string
  /** True if other masters write to the same store. */
  readonly isShared: boolean
  /** The addresses of pods, of which a part is set aside for nodes that join a unit. If omitted, none is. */
  readonly network?: { readonly clusterCidr: string; readonly nodeCidrMaskSize: number }
}

type Context = Pick<RoleContext, 'clock' | 'log'>

/** Hands units of this site over. Everything that must outlive it is in the store and in files named by their digest. */
export class HandoverActs implements UnitActs {
  readonly #fence: UnitFence
  readonly #options: HandoverOptions
  readonly #context: Context
  /** The last statement of each node, and its time by the monotonic clock. */
  #asked = new RecentMap<string, { atMs: number; statement: UnitStatement }>(nodesMax)
  #isLeading: boolean

  constructor(fence: UnitFence, options: HandoverOptions, context: Context) {
    this.#fence = fence
    this.#options = options
    this.#context = context
    this.#isLeading = !options.isShared
  }

  /** False for one of several masters whose controllers do not act. */
  get isLeading(): boolean {
    return this.#isLeading
  }

  /** Begins with the records as another master may have left them, and with what nodes say from now on. */
  async lead(): Promise<Disposable> {
    if (!this.#options.isShared) return { [Symbol.dispose]: () => undefined }
    await this.#fence.renew()
    this.#asked = new RecentMap(nodesMax)
    this.#isLeading = true
    return {
      [Symbol.dispose]: () => {
        this.#isLeading = false
      },
    }
  }

  recordOf(unit: string): ParentRecord {
    return this.#fence.holdOf(unit)?.parent ?? firstRecords.parent
  }

  heardOf(unit: string): UnitRecord | undefined {
    return this.#statementOf(unit)?.record
  }

  mastersOf(unit: string): readonly UnitMaster[] {
    const held = this.#fence.holdOf(unit)
    if (held === undefined) return []
    return mastersIn(held).map((node) => {
      const { serves, trouble } = this.#lately(node) ?? {}
      return { node, ...(serves ? { serves } : {}), ...(trouble ? { trouble } : {}) }
    })
  }

  async staff(unit: string, servers: number): Promise<UnitFault | undefined> {
    const held = this.#fence.holdOf(unit)
    if (held === undefined || this.#isSealed(unit)) return undefined
    const { server, masters, fault } = planStaff(held, servers, (node) => this.#lately(node))
    if (server === held.server && equalJson(masters, mastersIn(held))) return fault
    await this.#fence.put(unit, { ...held, server, masters })
    this.#context.log.info('Servers of the unit are chosen', {
      unit,
      server,
      masters: masters.join(', '),
    })
    return fault
  }

  /** Takes a node's statement, and returns the unit that it belongs to, if one was handed over. */
  hear(node: string, statement: UnitStatement): string | undefined {
    this.#asked.set(node, { atMs: this.#context.clock.monotonicMs(), statement })
    return this.unitOf(node)
  }

  /** Returns the parent's order for a node. */
  async orderFor(node: string): Promise<Omit<UnitOrder, 'settings'>> {
    const unit = this.unitOf(node)
    const held = unit === undefined ? undefined : this.#fence.holdOf(unit)
    if (unit === undefined || held === undefined) return { parent: firstRecords.parent }
    const { parent, server, nodes } = held
    const said = this.#statementOf(unit)
    const wants = node === this.#speakerOf(unit) ? await this.missingContent(unit) : undefined
    if (node !== server) {
      const { record: heard, join, masterJoin } = said ?? {}
      const isReleased = parent.phase === 'released' && heard?.phase === 'open'
      const shallJoin = isReleased && mastersIn(held).includes(node)
      return {
        unit,
        parent,
        heard,
        ...(isReleased ? { join } : {}),
        ...this.#masterOrder(node, unit, held),
        ...(shallJoin ? { masterJoin } : {}),
        ...(wants === undefined ? {} : { wants }),
      }
    }
    await this.#dropOpened(held, said?.record)
    const follows = (each: string): boolean =>
      this.#asked.get(each)?.statement.node.follows === 'unit'
    const masters = mastersIn(held)
    const members = said?.members ?? []
    return {
      unit,
      parent,
      isServer: true,
      wants,
      needsJoin: nodes.some((each) => each !== server && !follows(each)),
      masters,
      needsMasterJoin: masters.some((each) => each !== server && !members.includes(each)),
    }
  }

  /** A further server goes only when the one that speaks for the unit has no etcd any more, or has sealed. */
  #masterOrder(node: string, unit: string, held: UnitHold): Pick<UnitOrder, 'master'> {
    const { phase } = held.parent
    if (phase === 'recalled' && !this.#isSealed(unit)) return { master: 'ends' }
    if (phase !== 'released') return {}
    if (mastersIn(held).includes(node)) return { master: 'runs' }
    const members = this.#statementOf(unit)?.members
    return members === undefined || members.length > 0 ? { master: 'ends' } : {}
  }

  /** Only one node speaks for a unit: the one that has sealed, or else the one that the hold names. */
  #speakerOf(unit: string): string {
    const held = this.#fence.holdOf(unit)
    if (held === undefined) return ''
    const sealed = mastersIn(held).find((node) =>
      isSealedFor(held.parent, this.#asked.get(node)?.statement.record),
    )
    return sealed ?? held.server
  }

  #isSealed(unit: string): boolean {
    return isSealedFor(this.recordOf(unit), this.heardOf(unit))
  }

  #statementOf(unit: string): UnitStatement | undefined {
    return this.#asked.get(this.#speakerOf(unit))?.statement
  }

  #lately(node: string): UnitStatement | undefined {
    return this.#isHeard(node) ? this.#asked.get(node)?.statement : undefined
  }

  unitOf(node: string): string | undefined {
    return this.#fence.unitOfNode(node)
  }

  /** Returns the node that begins with what is released to a node's unit. */
  serverOf(node: string): string | undefined {
    return this.#fence.holdOf(this.unitOf(node) ?? '')?.server
  }

  /** Returns the node whose word counts for a node's unit, and that brings its content. */
  speakerOf(node: string): string | undefined {
    const unit = this.unitOf(node)
    return unit === undefined ? undefined : this.#speakerOf(unit)
  }

  async faultsOf(nodes: readonly string[], signal: AbortSignal): Promise<UnitFault[]> {
    const reason = 'NotSupported'
    const silent = nodes.filter((node) => !this.#isHeard(node))
    if (silent.length > 0) {
      const message = `nodes do not ask about their unit: ${named(silent)}; start "skerry node" there with --lead-unit`
      return [{ reason, message }]
    }
    return faultsOfShare(await readObjects(this.#fence.store, signal), new Set(nodes))
  }

  #isHeard(node: string): boolean {
    const atMs = this.#asked.get(node)?.atMs ?? -Infinity
    return this.#context.clock.monotonicMs() - atMs <= heardMs
  }

  async note(
    unit: string,
    { record, nodes, masters = nodes.toSorted().slice(0, 1) }: Noted,
    signal: AbortSignal,
  ): Promise<void> {
    const held = this.#fence.holdOf(unit)
    if (record.phase === 'fenced') {
      // A unit that was fenced and never released is fenced again as it is.
      const isAgain = held !== undefined && held.parent.phase === 'fenced'
      const begun = isAgain ? { nodes: held.nodes, masters: mastersIn(held) } : { nodes, masters }
      return this.#raise(unit, { parent: record, ...begun }, signal)
    }
    if (held === undefined)
      throw new Error(`Cannot write ${record.phase}: unit ${unit} is not fenced`)
    if (record.phase === 'own') {
      await this.#mark(unit, held, false)
      await this.#fence.put(unit, fallen(record, held))
      return this.#forgetContents(held)
    }
    // The one that has sealed has the content that is released again.
    const server = this.#speakerOf(unit)
    await this.#fence.put(unit, { ...held, parent: record, server })
    this.#context.log.info('Unit changes sides', { unit, phase: record.phase })
  }

  async pack(unit: string, signal: AbortSignal): Promise<void> {
    await this.#fenceRest(unit, signal)
    const held = this.#fence.holdOf(unit)
    if (held === undefined) throw new Error(`Cannot pack unit ${unit}: it is not fenced`)
    // The scheduler looks elsewhere from now on.
    await this.#mark(unit, held, true)
    const objects = await readObjects(this.#fence.store, signal)
    const { moved, lent } = shareOf(objects, new Set(held.nodes))
    const uids = new Set([...moved, ...lent].map(({ object }) => object.metadata.uid ?? ''))
    const read = new Map(objects.map((each) => [each.key, each]))
    const packed = [...moved, ...lent].flatMap((each): ReadObject[] => {
      const found = read.get(each.key)
      return found ? [{ ...found, object: copyOf(each, uids) }] : []
    })
    await makeDirectoryDurably(this.#options.directory)
    const part = join(this.#options.directory, `${unit}.packing`)
    const block = await this.#blockFor(held, objects)
    const packing = { objects: packed, lent: keptKeys(lent), block }
    const content = await writeContent(part, packing, signal)
    await rename(part, this.contentPath(content))
    await syncDirectory(this.#options.directory)
    await this.#fence.put(unit, { ...held, block, parent: { ...held.parent, content } })
    this.#context.log.info('Unit is packed', { unit, objects: packed.length })
  }

  async take(
    unit: string,
    { content, record }: { readonly content: string; readonly record: ParentRecord },
    signal: AbortSignal,
  ): Promise<TakeResult> {
    const held = this.#fence.holdOf(unit)
    if (held === undefined) throw new Error(`Cannot take unit ${unit}: it is not fenced`)
    const path = this.contentPath(content)
    if (!(await exists(path))) return { isTaken: false }
    if ((await digestOf(path, signal)) !== content) {
      await rm(path, { force: true })
      return { isTaken: false }
    }
    const here = await readObjects(this.#fence.store, signal)
    const plan = planTake(await readContent(path, signal), here, held)
    if (plan.refused.length > 0) {
      const refusal = `${named(plan.refused)}; set autonomyLevel to L4, put it right at the unit, and set L3 again`
      return { isTaken: false, refusal }
    }
    for (const { key, object, isNew } of plan.puts) {
      signal.throwIfAborted()
      const value = Buffer.from(JSON.stringify(object))
      const write = { key, value, ...(isNew ? { expectRevision: 0 } : {}) }
      const { isApplied } = await this.#fence.writeFor(unit, write)
      if (!isApplied) throw new Error(`Cannot take ${key}: it has just been made here, too`)
    }
    for (const key of plan.deletes) await this.#fence.writeFor(unit, { key })
    await this.#fence.put(unit, fallen(record, held))
    this.#context.log.info('Unit is back', { unit, objects: plan.puts.length })
    await this.#forgetContents({ ...held, parent: { ...record, content } })
    return { isTaken: true }
  }

  async hasContent(unit: string): Promise<boolean> {
    const { content } = this.recordOf(unit)
    return content !== undefined && (await exists(this.contentPath(content)))
  }

  contentPath(digest: string): string {
    return join(this.#options.directory, `${digest}.db`)
  }

  /** Returns the sealed content that has not come yet. */
  async missingContent(unit: string): Promise<string | undefined> {
    const heard = this.heardOf(unit)
    if (!isSealedFor(this.recordOf(unit), heard)) return undefined
    const { content } = heard
    return (await exists(this.contentPath(content))) ? undefined : content
  }

  /** Removes a content with which the unit has begun. */
  async #dropOpened(held: UnitHold, heard: UnitRecord | undefined): Promise<void> {
    const { phase, generation } = held.parent
    const isOpen = heard?.phase === 'open' && heard.generation === generation
    if (phase === 'released' && isOpen) await this.#forgetContents(held)
  }

  async #blockFor(
    { block }: UnitHold,
    objects: readonly ReadObject[],
  ): Promise<string | undefined> {
    const { network } = this.#options
    if (network === undefined || block !== undefined) return block
    const ranges = objects
      .filter(({ resource }) => resource === 'core/nodes')
      .map(({ object: { spec } }) => (isJsonObject(spec) ? spec['podCIDR'] : undefined))
      .filter((range) => typeof range === 'string')
    return chooseBlock(network, [...ranges, ...(await this.#fence.blocks())])
  }

  /** Raises the fence until nothing was added while it rose, and writes it then. */
  async #raise(unit: string, begun: BegunHold, signal: AbortSignal): Promise<void> {
    const { nodes } = begun
    try {
      let hold = holdOf(begun, await this.#read(nodes, signal))
      for (let reads = 1; ; reads += 1) {
        await this.#fence.raise(unit, hold)
        const again = holdOf(begun, await this.#read(nodes, signal))
        if (equalJson(again.keys, hold.keys)) break
        if (reads >= readsMax)
          throw new Error(`Cannot fence unit ${unit}: its objects keep changing`)
        hold = again
      }
      await this.#fence.put(unit, hold)
    } catch (error) {
      await this.#fence.reload(unit)
      throw error
    }
    this.#context.log.info('Unit is fenced', { unit, nodes: nodes.join(', ') })
  }

  /** The raising of a fence that others must see, too, may have been cut off before it had everything. */
  async #fenceRest(unit: string, signal: AbortSignal): Promise<void> {
    const held = this.#fence.holdOf(unit)
    if (held === undefined) return
    const { parent, nodes } = held
    const now = holdOf({ parent, nodes, masters: mastersIn(held) }, await this.#read(nodes, signal))
    if (!equalJson(now.keys, held.keys)) await this.#raise(unit, now, signal)
  }

  async #read(nodes: readonly string[], signal: AbortSignal): Promise<UnitShare> {
    const share = shareOf(await readObjects(this.#fence.store, signal), new Set(nodes))
    if (share.moved.length <= movedMax) return share
    const text = `Cannot hand a unit over: it has more than ${movedMax} objects; make it smaller`
    throw new ExpectedError(text, exitCodes.failure)
  }

  async #mark(unit: string, { nodes }: UnitHold, isMarked: boolean): Promise<void> {
    const { store } = this.#fence
    for (const node of nodes) {
      const { entry } = await store.get(`/registry/core/nodes/${node}`)
      if (!entry) continue
      const object = JSON.parse(Buffer.from(entry.value).toString())
      const next = isMarked ? withMark(object, unit) : withoutMark(object)
      if (equalJson(object, next)) continue
      const value = Buffer.from(JSON.stringify(next))
      const write = { key: entry.key, value, expectRevision: entry.modRevision }
      const { isApplied } = await this.#fence.writeFor(unit, write)
      if (!isApplied) throw new Error(`Cannot mark node ${node}: it has changed`)
    }
  }

  /** A content holds Secrets in plain text, so that it goes as soon as nobody needs it. */
  async #forgetContents({ parent: { content } }: UnitHold): Promise<void> {
    if (content !== undefined) await rm(this.contentPath(content), { force: true })
  }
}

type Noted = Parameters<UnitActs['note']>[1]

type BegunHold = Pick<UnitHold, 'parent' | 'nodes'> & { readonly masters?: readonly string[] }

function holdOf({ parent, nodes, masters = [] }: BegunHold, { moved }: UnitShare): UnitHold {
  const [server = ''] = masters
  return {
    parent,
    nodes,
    server,
    masters,
    keys: moved.map(({ key }) => key).toSorted(),
    uids: moved.map(({ object }) => object.metadata.uid ?? ''),
    namespaces: [...namespacesOf(moved)],
  }
}

/** Returns whether a unit has sealed a content for this call of its parent. */
function isSealedFor(
  { phase, generation }: ParentRecord,
  record: UnitRecord | undefined,
): record is UnitRecord & { readonly content: string } {
  return (
    phase === 'recalled' &&
    record?.phase === 'sealed' &&
    record.generation === generation &&
    record.content !== undefined
  )
}

function named(all: readonly string[]): string {
  const more = all.length - namedMax
  return `${all.slice(0, namedMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Nothing is fenced any more; its nodes still ask what became of their unit. */
function fallen(parent: ParentRecord, { nodes, server, masters }: UnitHold): UnitHold {
  const staffed = { nodes, server, ...(masters ? { masters } : {}) }
  return { parent, ...staffed, keys: [], uids: [], namespaces: [] }
}
