import { StatusError, isStatusError, type AnyObject } from '@skerry/api'
import type { ReadPath } from '@skerry/apiserver'
import {
  asError,
  createBackoff,
  createWakeFlag,
  messageOf,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import {
  anyObjects,
  createCluster,
  ifThere,
  isUnsent,
  resources,
  type ClusterClient,
  type CredentialSource,
  type HttpsTransport,
  type ResourceClient,
} from '@skerry/client'
import type { CopySet } from '../copies/copy-set.ts'
import { conflictResource, type Conflict, type ConflictSpec } from '../kinds/conflict.ts'
import { nodeGroup } from '../kinds/offline-writes.ts'
import type { Link } from '../link/link.ts'
import { nodeApiBounds } from '../limits-table.ts'
import type { JournaledWrite } from './journaled-write.ts'
import {
  mergePatchOf,
  planReplay,
  wholeFields,
  type ReplayAct,
  type ReplayConflict,
} from './plan-replay.ts'
import type { JournalEntry, WriteJournal } from './write-journal.ts'
import type { WriterTokens } from './writer-tokens.ts'

const { retry, attemptsMax, raisesMax } = nodeApiBounds.replay

export interface ReplayDeps {
  readonly journal: WriteJournal
  readonly readPath: ReadPath
  readonly link: Link
  readonly tokens: WriterTokens
  /** The control plane as the node itself, which may create Conflicts. */
  readonly cluster: ClusterClient
  /** Opens the way to the control plane with these credentials. */
  readonly open: (credentials?: CredentialSource) => HttpsTransport
  readonly nodeName: string
  readonly userAgent: string
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** The copies that follow again once the journal is empty. */
  readonly copies: Pick<CopySet, 'offer' | 'settled'>
}

/** Brings the writes of the journal to the control plane, in their order, each as the user who wrote. */
export class Replay {
  readonly #deps: ReplayDeps
  readonly #wake = createWakeFlag()

  constructor(deps: ReplayDeps) {
    this.#deps = deps
  }

  /** Call this when the journal has got a write. */
  wake(): void {
    this.#wake.raise()
  }

  async run(signal: AbortSignal): Promise<never> {
    const { link, journal, clock, random, log, copies } = this.#deps
    const backoff = createBackoff(retry, random)
    using _changes = link.onChange((isUp) => {
      if (isUp) backoff.reset()
      this.#wake.raise()
    })
    for (;;) {
      while (!link.isUp || (journal.size === 0 && journal.damagedPath === undefined)) {
        await this.#wake.wait(signal)
      }
      try {
        await this.#replayAll(signal)
        backoff.reset()
        log.info('Control plane has the writes of this node')
        copies.settled()
      } catch (error) {
        signal.throwIfAborted()
        log.info('Writes of this node wait', { writes: journal.size, error: asError(error) })
        link.suspect()
        using _again = clock.setTimer(backoff.nextMs(), () => this.#wake.raise())
        await this.#wake.wait(signal)
      }
    }
  }

  async #replayAll(signal: AbortSignal): Promise<void> {
    const { journal } = this.#deps
    if (journal.damagedPath !== undefined) await this.#reportDamage(journal.damagedPath, signal)
    await this.#raiseRevision(signal)
    using writers = this.#openWriters()
    for (let entry = journal.next(0); entry; entry = journal.next(0)) {
      await this.#replay(entry, writers, signal)
    }
  }

  /** All writers share the connections; each request shows the token of its own writer. */
  #openWriters(): Writers {
    let bearerToken = ''
    const transport = this.#deps.open(() => Promise.resolve({ bearerToken }))
    const cluster = createCluster(transport, this.#deps)
    return {
      as(token) {
        bearerToken = token
        return cluster
      },
      [Symbol.dispose]: () => transport[Symbol.dispose](),
    }
  }

  /**
   * Readers of this node have seen revisions that the control plane has not given out. It gives out newer ones to the
   * replayed objects, so that time goes on for those readers. A change of the node's own Lease counts as any other.
   */
  async #raiseRevision(signal: AbortSignal): Promise<void> {
    const { journal, cluster, nodeName, log } = this.#deps
    const high = journal.highestRevision()
    const leases = cluster.resource(resources.leases)
    for (let raise = 0; raise < raisesMax; raise += 1) {
      const annotations = {
        [`${nodeGroup}/offline-revision`]: `${journal.id}-${high}-${raise % 2}`,
      }
      try {
        const { metadata } = await leases.patch(
          {
            namespace: 'kube-node-lease',
            name: nodeName,
            type: 'merge',
            patch: { metadata: { annotations } },
          },
          signal,
        )
        if (Number(metadata.resourceVersion) >= high) return
      } catch (error) {
        if (!(error instanceof StatusError) || !isFinal(error)) throw error
        // Watches of the copies then end, and begin again with a list.
        log.info('Revision of the control plane is not raised', { error })
        return
      }
    }
  }

  async #replay(entry: JournalEntry, writers: Writers, signal: AbortSignal): Promise<void> {
    const { write } = entry
    if (!write) {
      await this.#report(this.#damagedEntry(entry), entry, signal)
      this.#deps.journal.finish(entry)
      return
    }
    try {
      await this.#carryOut({ ...entry, write }, writers, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof StatusError) || !isFinal(error)) throw error
      const conflict: ReplayConflict = {
        reason: 'Refused',
        winner: 'cloud',
        message: error.message,
        fields: wholeFields({ ...write, cloud: undefined }, 'cloud'),
      }
      await this.#report(this.#specOf(write, conflict), entry, signal)
      this.#deps.journal.finish(entry)
    }
  }

  async #carryOut(
    entry: JournalEntry & { readonly write: JournaledWrite },
    writers: Writers,
    signal: AbortSignal,
  ): Promise<void> {
    const { journal, readPath, tokens, copies } = this.#deps
    const { write } = entry
    const kind = readPath.kindOf(write.resource)
    if (!kind)
      throw new StatusError('NotFound', 'Cannot replay: this program does not know the kind')
    const bearerToken = await tokens.tokenOf(write, signal)
    const { isNamespaced } = kind
    const objects = writers
      .as(bearerToken)
      .resource(anyObjects({ ...write.resource, isNamespaced }))
    const mark = { journal: journal.id, seq: entry.seq }
    let { isSent } = entry
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const cloud = await ifThere(objects.get(keyOf(write), signal))
      const givenUid = (local: string): string | undefined => journal.givenUid(local)
      const plan = planReplay({ write, cloud, kind, mark, isSent, givenUid })
      const spec = plan.isDone
        ? entry.conflict
        : plan.conflict && this.#specOf(write, plan.conflict)
      isSent ||= plan.act.type === 'create'
      if (!plan.isDone) journal.prepare(entry, { isSent, conflict: spec })
      try {
        const made = await act(plan.act, write, { objects, signal })
        if (spec) await this.#report(spec, entry, signal)
        const local = write.base === undefined ? write.edge?.metadata.uid : undefined
        const given = (made ?? cloud)?.metadata.uid
        journal.finish(entry, local && given ? { local, given } : undefined)
        copies.offer(write.resource, bearerToken)
        return
      } catch (error) {
        signal.throwIfAborted()
        if (isStatusError(error, 'Unauthorized')) tokens.forget(write)
        if (plan.act.type === 'create' && isUnmade(error)) {
          isSent = false
          journal.prepare(entry, { isSent, conflict: spec })
        }
        const isGone = plan.act.type !== 'create' && isStatusError(error, 'NotFound')
        if (!isGone && !isOvertaken(error)) throw error
      }
    }
    throw new Error(`Cannot replay: ${write.resource.resource} ${write.name} changes all the time`)
  }

  #specOf(write: JournaledWrite, { fields, ...conflict }: ReplayConflict): ConflictSpec {
    const { clock, nodeName } = this.#deps
    const { resource, namespace, name, base, edge, atMs } = write
    const { apiVersion = '', kind = '' } = edge ?? base ?? {}
    return {
      ...conflict,
      nodeName,
      user: write.user,
      operation: operationOf(write),
      object: { apiVersion, kind, resource: resource.resource, namespace, name },
      writtenAt: new Date(atMs).toISOString(),
      foundAt: new Date(clock.now()).toISOString(),
      fields: [...fields],
    }
  }

  #damagedEntry({ object, seq }: JournalEntry): ConflictSpec {
    const message = `entry ${seq} of the journal on the node is damaged; it was a write of ${object}`
    return this.#damage(message)
  }

  #damage(message: string): ConflictSpec {
    const { clock, nodeName } = this.#deps
    const foundAt = new Date(clock.now()).toISOString()
    const object = { apiVersion: '', kind: '', resource: '', namespace: '', name: '' }
    return {
      reason: 'Damaged',
      winner: 'cloud',
      message,
      nodeName,
      user: '',
      operation: 'update',
      object,
      writtenAt: '',
      foundAt,
    }
  }

  async #reportDamage(path: string, signal: AbortSignal): Promise<void> {
    const message = `the journal of writes on the node was damaged, and is kept there as ${path}`
    await this.#report(this.#damage(message), { seq: 0 }, signal)
    this.#deps.journal.forgetDamage()
  }

  /** The name is the same each time, so that a Conflict is reported once. */
  async #report(
    spec: ConflictSpec,
    { seq }: Pick<JournalEntry, 'seq'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { cluster, journal, nodeName, log } = this.#deps
    const conflict: Conflict = {
      apiVersion: `${nodeGroup}/v1alpha1`,
      kind: 'Conflict',
      metadata: { name: `${nodeName}-${journal.id}-${seq}` },
      spec,
    }
    log.info('Write of this node is in a Conflict', {
      conflict: conflict.metadata.name ?? '',
      reason: spec.reason,
    })
    try {
      await cluster.resource(conflictResource).create(conflict, signal)
    } catch (error) {
      if (isStatusError(error, 'AlreadyExists')) return
      // A refusal here must not end the entry: the write would be in no object.
      throw new Error(`Cannot report a conflict: ${messageOf(error)}`, { cause: error })
    }
  }
}

/** The way of writers to the control plane. One entry is replayed at a time. */
interface Writers extends Disposable {
  /** Returns the control plane as the bearer of this token; earlier answers are not to be used any more. */
  as(token: string): ClusterClient
}

interface Act {
  readonly objects: ResourceClient<AnyObject>
  readonly signal: AbortSignal
}

/** Sends the request of a plan. Resolves to the object as it is then, if there is one. */
async function act(
  plan: ReplayAct,
  write: JournaledWrite,
  { objects, signal }: Act,
): Promise<AnyObject | undefined> {
  const { fieldManager } = write
  const key = keyOf(write)
  switch (plan.type) {
    case 'none':
      return undefined
    case 'create': {
      if (!write.applied) return objects.create(plan.object, signal, { fieldManager })
      const { isForced } = write.applied
      const request = { ...key, type: 'apply', patch: plan.object, fieldManager } as const
      return objects.patch({ ...request, force: isForced }, signal)
    }
    case 'change': {
      if (write.verb === 'update') return objects.update(plan.next, signal, { fieldManager })
      const { resourceVersion } = plan.from.metadata
      const patch = mergePatchOf(plan.from, plan.next)
      const metadata = { ...(patch['metadata'] as object | undefined), resourceVersion }
      const request = {
        ...key,
        type: 'merge',
        patch: { ...patch, metadata },
        fieldManager,
      } as const
      return objects.patch(request, signal)
    }
    case 'apply': {
      const { configuration, from, isForced } = plan
      const { resourceVersion } = from.metadata
      const patch = { ...configuration, metadata: { ...configuration.metadata, resourceVersion } }
      const request = { ...key, type: 'apply', patch, fieldManager, force: isForced } as const
      return objects.patch(request, signal)
    }
    case 'delete': {
      const { uid = '', resourceVersion = '' } = plan.from.metadata
      const { propagationPolicy } = write
      await objects.delete(
        {
          ...key,
          preconditions: { uid, resourceVersion },
          ...(propagationPolicy ? { propagationPolicy } : {}),
        },
        signal,
      )
      return undefined
    }
  }
}

function keyOf({ namespace, name }: JournaledWrite): { namespace?: string; name: string } {
  return namespace === '' ? { name } : { namespace, name }
}

function operationOf({ verb, base }: JournaledWrite): ConflictSpec['operation'] {
  if (verb === 'delete') return 'delete'
  return base === undefined ? 'create' : 'update'
}

/** A create that was refused, or that had no connection, has made nothing. */
function isUnmade(error: unknown): boolean {
  return isUnsent(error) || (error instanceof StatusError && error.code < 500)
}

/** Somebody else was faster: the merge begins again with what is there now. */
function isOvertaken(error: unknown): boolean {
  if (isStatusError(error, 'AlreadyExists')) return true
  return isStatusError(error, 'Conflict') && !isOwnership(error)
}

/** An apply meets fields that another manager owns: another attempt would meet them as well. */
function isOwnership(error: StatusError): boolean {
  const { causes = [] } = error.details ?? {}
  return causes.some(({ reason }) => reason === 'FieldManagerConflict')
}

const lasting: ReadonlySet<number> = new Set([400, 403, 404, 405, 409, 413, 415, 422])

/** A refusal that another attempt would meet as well. */
function isFinal(error: StatusError): boolean {
  return lasting.has(error.code)
}
