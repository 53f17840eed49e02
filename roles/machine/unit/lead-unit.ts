import { cp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asError, makeDirectoryDurably, messageOf, sayWhenNew, syncDirectory } from '@skerry/base'
import { firstRecords, planHandover, type NodeRecord } from '@skerry/edge-apps'
import { nextDirectory, requireSamePods } from '../../node/next-identity.ts'
import { codeOf, writeFileDurably } from '../../runtime/data-directory.ts'
import { exists } from '../../runtime/files.ts'
import { pkiDirectory } from '../../runtime/node-identity.ts'
import type { RoleContext } from '../../runtime/role-context.ts'
import type { UnitOrder } from '../../site/units/unit-order.ts'
import { machineBounds } from '../limits-table.ts'
import { moveNode } from '../move-node.ts'
import { ParentLink } from './parent-link.ts'
import { readState, unitPaths, writeState, type UnitState } from './unit-state.ts'
import { stepMaster } from './step-master.ts'
import { stepUnit } from './step-unit.ts'
import { abandonEtcd, membersOf, putAside } from './unit-etcd.ts'
import { UnitSite, type StartedUnit, type UnitSiteOptions } from './unit-site.ts'

const { calmMs, busyMs } = machineBounds.unit.lead
const { troubleMax } = machineBounds.unit.site

export interface LeadOptions extends UnitSiteOptions {
  /** Starts the node's agent again, with the identity that was prepared for it. */
  readonly restartNode: () => Promise<void>
}

/**
 * Does what the records say for the unit of this node: it keeps the unit's own control plane, and leads the node from one
 * side to the other. It goes on for ever; an act that fails is tried again, and its record stays as it is.
 */
export async function leadUnit(options: LeadOptions, context: RoleContext): Promise<never> {
  const { clock, signal, log } = context
  const state = await readState(options.dataDir)
  await using parent = new ParentLink(options, context)
  await using site = new UnitSite(options, context)
  const leading = new LeadingNode(options, { parent, site, context }, state)
  const say = sayWhenNew((error: string) => log.error('Unit waits, trying again', { error }))
  for (;;) {
    try {
      await leading.step()
      say([])
      leading.trouble = undefined
    } catch (error) {
      signal.throwIfAborted()
      leading.trouble = messageOf(error)
      say([leading.trouble])
    }
    await clock.sleep(leading.isBusy ? busyMs : calmMs, signal)
  }
}

interface LeadDeps {
  readonly parent: ParentLink
  readonly site: UnitSite
  readonly context: RoleContext
}

class LeadingNode {
  readonly #options: LeadOptions
  readonly #deps: LeadDeps
  #state: UnitState
  #needs: Pick<UnitOrder, 'needsJoin' | 'needsMasterJoin'> = {}
  isBusy = false
  /** Why the last step could not be done; the parent shows it. */
  trouble: string | undefined

  constructor(options: LeadOptions, deps: LeadDeps, state: UnitState) {
    this.#options = options
    this.#deps = deps
    this.#state = state
  }

  async step(): Promise<void> {
    // After a power cut the unit goes on without its parent.
    await this.#keepSite()
    if (!(await exists(join(pkiDirectory(this.#options), 'server')))) return
    const order = await this.#ask()
    if (order) {
      this.isBusy = order.unit !== undefined && !this.#isCalm(order)
      await this.#takeOrder(order)
      await this.#stepMaster(order)
      if (order.isServer) await this.#stepUnit(order)
    }
    await this.#keepSite()
    await this.#stepNode(order)
    const wanted = order?.wants
    if (wanted !== undefined && wanted === this.#state.record.content) await this.#bring(wanted)
    if (order) this.isBusy = order.unit !== undefined && !this.#isCalm(order)
    const { needsJoin, needsMasterJoin } = order ?? {}
    this.#needs = { needsJoin, needsMasterJoin }
    // A unit that cannot get its servers has its nodes all the same.
    if (order?.isServer) await this.#stepServers(order)
  }

  #isCalm({ parent: { phase }, needsJoin, needsMasterJoin, master }: UnitOrder): boolean {
    const { record, node } = this.#state
    if (phase === 'own') return record.phase !== 'open' && node.follows === 'parent'
    const isWhole = needsJoin !== true && needsMasterJoin !== true
    const isStaffed = master !== 'runs' || this.#deps.site.serves !== undefined
    return phase === 'released' && node.follows === 'unit' && isWhole && isStaffed
  }

  async #ask(): Promise<UnitOrder | undefined> {
    const { record, node } = this.#state
    const { parent, site, context } = this.#deps
    // A control plane that has stopped names no way to join.
    const isOpen = record.phase === 'open'
    const { needsJoin = false, needsMasterJoin = false } = isOpen ? this.#needs : {}
    try {
      const { signal } = context
      const trouble = (this.trouble ?? site.trouble)?.slice(0, troubleMax)
      return await parent.ask({
        record,
        node,
        members: await membersOf(unitPaths(this.#options.dataDir).site),
        serves: site.serves,
        trouble,
        ...(needsJoin ? { join: await site.join(signal) } : {}),
        ...(needsMasterJoin ? { masterJoin: await site.masterJoin(signal) } : {}),
      })
    } catch (error) {
      context.signal.throwIfAborted()
      context.log.debug('Parent gives no order', { error: asError(error) })
      return undefined
    }
  }

  /** The records belong to one unit; another one begins with its own. */
  async #takeOrder({ unit, settings }: UnitOrder): Promise<void> {
    const { unit: before, record, node, joined } = this.#state
    if (unit === undefined || unit === before) return
    if (record.phase === 'open' || node.follows === 'unit') {
      throw new Error(`Cannot obey an order for unit ${unit}: this node leads unit ${before}`)
    }
    if (joined !== undefined) {
      // Its servers were without this one before its parent gave the node away.
      await this.#deps.site.stop()
      await putAside(unitPaths(this.#options.dataDir).site)
    }
    const { unit: first, node: firstNode } = firstRecords
    await this.#note({ unit, settings, record: first, node: firstNode })
  }

  async #stepUnit(order: UnitOrder): Promise<void> {
    const { parent, site, context } = this.#deps
    const next = await stepUnit(this.#state, order, {
      dataDir: this.#options.dataDir,
      context,
      fetch: (digest, path) => parent.fetch(this.#state.node.follows, digest, path),
      closeSite: () => this.#closeSite(),
      abandonSite: async () => {
        await site.stop()
        await abandonEtcd(unitPaths(this.#options.dataDir).site)
      },
    })
    if (next) await this.#note(next)
  }

  /** Acts for a unit of several servers, of which this is one. */
  async #stepMaster(order: UnitOrder): Promise<void> {
    const { dataDir } = this.#options
    const { site, context } = this.#deps
    const next = await stepMaster(this.#state, order, { dataDir, site, context })
    if (next) await this.#note(next)
  }

  /** Gives the unit as many servers as its parent asks for: further ones join, and the last one needs no etcd. */
  async #stepServers({ parent, masters = [] }: UnitOrder): Promise<void> {
    const started = this.#started()
    if (started === undefined || this.#state.record.phase !== 'open') return
    if (parent.phase !== 'released') return
    const { site } = this.#deps
    if (masters.length > 1) return site.grow(started)
    const { site: path } = unitPaths(this.#options.dataDir)
    if ((await membersOf(path)).length > 0) await site.close(started)
  }

  async #closeSite(): Promise<void> {
    const started = this.#started()
    const { site: path } = unitPaths(this.#options.dataDir)
    const { site } = this.#deps
    const isOne = (await membersOf(path)).length === 0
    if (started === undefined || isOne) return site.stop()
    await site.close(started)
  }

  async #stepNode(order: UnitOrder | undefined): Promise<void> {
    const { record, node } = this.#state
    const parent = order?.unit === undefined ? undefined : order.parent
    // The server knows its unit, others hear of it.
    const unit = order === undefined || order.isServer ? record : order.heard
    const step = planHandover.node({ node, parent, unit })
    if (step.act === 'none') return
    if (step.act === 'follow') {
      const hasGone =
        step.record.follows === 'unit' ? await this.#followUnit(order) : await this.#followParent()
      if (!hasGone) return
    }
    await this.#note({ ...this.#state, node: step.record })
    if (step.record.follows === 'parent') await this.#forgetAway()
    this.#deps.context.log.info('Node follows', nodeFields(step.record))
  }

  /** Resolves to false while nobody knows the way. */
  async #followUnit(order: UnitOrder | undefined): Promise<boolean> {
    const { site, context } = this.#deps
    const { parent, token: tokenFile } = unitPaths(this.#options.dataDir)
    if (await this.#obeysUnit()) return true
    const way = this.#state.record.phase === 'open' ? await site.join(context.signal) : order?.join
    if (way === undefined) return false
    await copyIdentity(pkiDirectory(this.#options), parent)
    try {
      await writeFileDurably(tokenFile, way.token)
      const print = (): void => undefined
      const moved = { ...this.#options, servers: [way.server], tokenFile, caHash: way.caHash }
      await moveNode(moved, { ...context, print }, context.signal)
    } finally {
      await rm(tokenFile, { force: true })
    }
    await this.#restartNode()
    return true
  }

  async #followParent(): Promise<true> {
    if (!(await this.#obeysUnit())) return true
    const { parent } = unitPaths(this.#options.dataDir)
    await copyIdentity(pkiDirectory({ dataDir: parent }), nextDirectory(this.#options))
    await requireSamePods(this.#options, this.#deps.context)
    await this.#restartNode()
    return true
  }

  async #restartNode(): Promise<void> {
    await this.#options.restartNode()
    const next = join(pkiDirectory({ dataDir: nextDirectory(this.#options) }), 'server')
    if (await exists(next)) throw new Error('Cannot lead the node: it stays with its control plane')
  }

  /** Returns true if the node has gone to the unit, whatever its record says: its identity is not the parent's. */
  async #obeysUnit(): Promise<boolean> {
    const { parent } = unitPaths(this.#options.dataDir)
    const there = await serversOf(parent)
    return there !== undefined && there !== (await serversOf(this.#options.dataDir))
  }

  async #keepSite(): Promise<void> {
    const { record, joined } = this.#state
    const started = this.#started()
    if (started === undefined) return
    const { site } = this.#deps
    if (record.phase !== 'open' && joined === undefined) return site.stop()
    await site.start(started)
  }

  #started(): StartedUnit | undefined {
    const { unit, settings, joined } = this.#state
    if (unit === undefined || settings === undefined) return undefined
    return { unit, settings, way: joined?.way }
  }

  async #bring(digest: string): Promise<void> {
    const path = unitPaths(this.#options.dataDir).content(digest)
    await this.#deps.parent.bring(this.#state.node.follows, digest, path)
  }

  /** Removes what the node needed while it was away, and a content in plain text. */
  async #forgetAway(): Promise<void> {
    const { parent, content: pathOf } = unitPaths(this.#options.dataDir)
    const { content } = this.#state.record
    await this.#deps.parent[Symbol.asyncDispose]()
    await rm(parent, { recursive: true, force: true })
    if (content !== undefined) await rm(pathOf(content), { force: true })
  }

  async #note(next: UnitState): Promise<void> {
    await writeState(this.#options.dataDir, next)
    const { phase, generation } = next.record
    if (phase !== this.#state.record.phase) {
      this.#deps.context.log.info('Unit changes', { unit: next.unit ?? '', phase, generation })
    }
    this.#state = next
  }
}

function nodeFields({ follows, generation }: NodeRecord): { follows: string; generation: number } {
  return { follows, generation }
}

/** Copies the files of an identity into a data directory, as a whole or not at all. */
async function copyIdentity(pki: string, dataDir: string): Promise<void> {
  const part = `${dataDir}.part`
  await rm(part, { recursive: true, force: true })
  await makeDirectoryDurably(part)
  await cp(pki, pkiDirectory({ dataDir: part }), { recursive: true })
  await rm(dataDir, { recursive: true, force: true })
  await rename(part, dataDir)
  await syncDirectory(join(dataDir, '..'))
}

async function serversOf(dataDir: string): Promise<string | undefined> {
  try {
    return await readFile(join(pkiDirectory({ dataDir }), 'server'), 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
