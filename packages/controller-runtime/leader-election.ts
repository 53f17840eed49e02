import {
  abortReason,
  asError,
  linkedSignal,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { isStatusError, type Lease } from '@skerry/api'
import { resources, type ClusterClient } from '@skerry/client'
import { controllerRuntimeBounds } from './limits-table.ts'

export interface LeaderElectionOptions {
  namespace: string
  /** The Lease's name, e.g. skerry-controllers. */
  name: string
  /** Unique among the candidates, e.g. `<host>_<uuid>`. */
  identity: string
  /** How long others wait after the last renewal that they saw. */
  leaseDurationMs: number
  /** A leader that could not renew for this long stops its work. Less than leaseDurationMs. */
  renewDeadlineMs: number
  retryPeriodMs: number
  /** How often a candidate that does not lead looks, on top of a random part. If omitted, as a leader renews. */
  acquirePeriodMs?: number
}

/** One term of a leader. */
export interface Leadership {
  /**
   * False as soon as another process may lead, for good. A process that stood still finds out here before it acts:
   * its timers may be late.
   */
  isHeld(this: void): boolean
}

type LeaderTask = (scope: AbortSignal, leadership: Leadership) => Promise<unknown>

const leaderElectionDefaults = controllerRuntimeBounds.leaderElection

export interface LeaderElectionDeps {
  cluster: ClusterClient
  clock: Clock
  random: Random
  log: Logger
}

/** Reports that the lease could not be renewed in time; another process may lead by now. */
export class LeaseLostError extends Error {
  override name = 'LeaseLostError'
}

/**
 * Runs `task` while this process holds the Lease. Its scope aborts when the lease is lost, and the
 * candidate then competes again. Expiry is judged by how long this clock saw no renewal, so the
 * candidates' clocks need not agree. Ends when the signal aborts (the lease is then released) or
 * the task fails.
 */
export async function runAsLeader(
  options: Pick<LeaderElectionOptions, 'namespace' | 'name' | 'identity'> &
    Partial<LeaderElectionOptions>,
  deps: LeaderElectionDeps,
  signal: AbortSignal,
  task: LeaderTask,
): Promise<never> {
  const candidate = new Candidate({ ...leaderElectionDefaults, ...options }, deps)
  for (;;) {
    await candidate.acquire(signal)
    deps.log.info('Became leader', { lease: options.name, identity: options.identity })
    await lead(candidate, signal, task)
    deps.log.info('Lost leadership', { lease: options.name, identity: options.identity })
  }
}

async function lead(candidate: Candidate, signal: AbortSignal, task: LeaderTask): Promise<void> {
  using scope = linkedSignal(signal)
  const leadership: Leadership = {
    isHeld: () => !scope.signal.aborted && candidate.isFresh(),
  }
  const renewing = candidate.renewUntilLost(scope.signal).catch((error: unknown) => {
    scope.abort(error)
  })
  try {
    await task(scope.signal, leadership)
    throw new Error('Cannot lead: the task ended by itself')
  } catch (error) {
    if (!signal.aborted && !candidate.isFresh()) {
      // A fenced write may fail before the timer of the renewal says the same.
      scope.abort(error)
      return
    }
    scope.abort(error)
    await renewing
    await candidate.release()
    throw error
  } finally {
    await renewing
  }
}

class Candidate {
  readonly #options: LeaderElectionOptions
  readonly #deps: LeaderElectionDeps
  /** The record as last read, and when this clock first saw it. */
  #observed: { lease: Lease; atMs: number } | undefined
  /** When the last renewal that succeeded was begun. */
  #renewedMs = -Infinity

  constructor(options: LeaderElectionOptions, deps: LeaderElectionDeps) {
    this.#options = options
    this.#deps = deps
  }

  async acquire(signal: AbortSignal): Promise<void> {
    const { retryPeriodMs, acquirePeriodMs = retryPeriodMs, renewDeadlineMs } = this.#options
    for (;;) {
      if (await this.#tryHold(renewDeadlineMs, signal)) return
      await this.#deps.clock.sleep(acquirePeriodMs * (1 + 1.2 * this.#deps.random.next()), signal)
    }
  }

  /** The lease is ours, and nobody else may have taken it. */
  isFresh(): boolean {
    return this.#leftMs() > 0
  }

  async renewUntilLost(signal: AbortSignal): Promise<never> {
    const { retryPeriodMs, name } = this.#options
    for (;;) {
      await this.#deps.clock.sleep(Math.min(retryPeriodMs, Math.max(0, this.#leftMs())), signal)
      // An attempt ends in time for the work to stop before others may begin.
      if (this.isFresh()) await this.#tryHold(this.#leftMs(), signal)
      if (!this.isFresh()) {
        throw new LeaseLostError(`Cannot lead: lease ${name} was not renewed in time`)
      }
    }
  }

  #leftMs(): number {
    return this.#renewedMs + this.#options.renewDeadlineMs - this.#deps.clock.monotonicMs()
  }

  /** Lets the next candidate take over at once. A failure only makes it wait for the lease to expire. */
  async release(): Promise<void> {
    const late = new AbortController()
    const { signal } = late
    const { clock } = this.#deps
    using _timer = clock.setTimer(this.#options.retryPeriodMs, () => late.abort())
    try {
      while (!(await this.#tryRelease(signal))) signal.throwIfAborted()
    } catch (error) {
      this.#deps.log.debug('Lease not released', { error: asError(error) })
    }
  }

  /**
   * Resolves to false if a renewal of ours was written meanwhile, though nobody waited for its
   * answer any more.
   */
  async #tryRelease(signal: AbortSignal): Promise<boolean> {
    const held = await this.#read(signal)
    if (held?.spec?.holderIdentity !== this.#options.identity) return true
    const now = this.#now()
    const spec = {
      ...held.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: now,
      acquireTime: now,
    }
    try {
      await this.#leases().update({ ...held, spec }, signal)
      return true
    } catch (error) {
      if (isStatusError(error, 'Conflict')) return false
      throw error
    }
  }

  /**
   * Resolves to true if the lease is ours afterwards, and to false if another process holds it or
   * the server is unreachable.
   */
  async #tryHold(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    using scope = linkedSignal(signal)
    using _timer = this.#deps.clock.setTimer(timeoutMs, () =>
      scope.abort(new Error('Cannot renew lease: no answer in time')),
    )
    const triedMs = this.#deps.clock.monotonicMs()
    try {
      const isHeld = await this.#tryHoldOnce(scope.signal)
      if (isHeld) this.#renewedMs = triedMs
      return isHeld
    } catch (error) {
      if (signal.aborted) throw abortReason(signal)
      this.#deps.log.debug('Lease not held', { error: asError(error) })
      return false
    }
  }

  async #tryHoldOnce(signal: AbortSignal): Promise<boolean> {
    const found = await this.#read(signal)
    if (!found) {
      this.#observe(await this.#leases().create(this.#fresh(), signal))
      return true
    }
    this.#observe(found)
    const { identity } = this.#options
    const spec = found.spec ?? {}
    const isOurs = spec.holderIdentity === identity
    if (!isOurs && spec.holderIdentity && !this.#isExpired(found)) return false
    const now = this.#now()
    const next: Lease = {
      ...found,
      spec: {
        ...spec,
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(this.#options.leaseDurationMs / 1000),
        renewTime: now,
        acquireTime: isOurs ? (spec.acquireTime ?? now) : now,
        leaseTransitions: (spec.leaseTransitions ?? 0) + (isOurs ? 0 : 1),
      },
    }
    this.#observe(await this.#leases().update(next, signal))
    return true
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { namespace, name } = this.#options
    try {
      return await this.#leases().get({ namespace, name }, signal)
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    }
  }

  #fresh(): Lease {
    const { namespace, name, identity, leaseDurationMs } = this.#options
    const now = this.#now()
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
        acquireTime: now,
        renewTime: now,
        leaseTransitions: 0,
      },
    }
  }

  #observe(lease: Lease): void {
    const known = this.#observed?.lease.metadata.resourceVersion
    if (known === lease.metadata.resourceVersion) return
    this.#observed = { lease, atMs: this.#deps.clock.monotonicMs() }
  }

  #isExpired(lease: Lease): boolean {
    const durationMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1000
    const seenMs = this.#observed?.atMs ?? this.#deps.clock.monotonicMs()
    return seenMs + durationMs < this.#deps.clock.monotonicMs()
  }

  #leases() {
    return this.#deps.cluster.resource(resources.leases)
  }

  /** MicroTime: RFC 3339 with microseconds. */
  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString().replace('Z', '000Z')
  }
}
