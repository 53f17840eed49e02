import { goOnPastUnreadable, type Objects } from '@skerry/apiserver'
import {
  createBackoff,
  createWakeFlag,
  hostAndPort,
  logFailure,
  runAll,
  type Clock,
  type Logger,
  type Random,
  type Task,
} from '@skerry/base'
import type { Store } from '@skerry/store'
import { wrongUse } from '../../runtime/read-config-file.ts'
import { publishApiEndpoints, type Master } from '../objects/api-endpoints.ts'
import { siteBounds } from '../limits-table.ts'

/** The settings that all masters of a site must have in common, by their options. */
export type CommonSettings = Readonly<Record<string, string>>

export interface DirectoryDeps {
  readonly store: Store
  readonly objects: Objects
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const prefix = '/masters/'
const entering = {
  subject: 'Entry of a master',
  message: 'Entry of this master not renewed, trying again',
}
const watching = {
  subject: 'Watch of masters',
  message: 'Other masters not seen, trying again',
}
const publishing = {
  subject: 'Endpoints of masters',
  message: 'Endpoints of the service kubernetes not written, trying again',
}
const leaving = {
  subject: 'Leave of a master',
  message: 'Entry of this master not removed; it expires',
}
const { ttlSeconds, renewMs, reconcileMs, retry } = siteBounds.masterDirectory

/**
 * Keeps the endpoints of the service `kubernetes` those of the masters that live, as upstream's lease reconciler:
 * each master has an entry in the store under a lease, and each writes the endpoints from all entries. The entry of
 * a master that stops goes at once, that of one that dies with its lease.
 */
export class MasterDirectory {
  readonly #self: Master
  readonly #settings: CommonSettings
  readonly #deps: DirectoryDeps
  readonly #changed = createWakeFlag()
  #leaseId: number | undefined
  /** True if the lease may be gone. */
  #isLost = false
  #revision = 0

  constructor(self: Master, settings: CommonSettings, deps: DirectoryDeps) {
    this.#self = self
    this.#settings = settings
    this.#deps = deps
  }

  /** Publishes this server as the only one; nothing is renewed. */
  publishAlone(): Promise<void> {
    const { objects, log } = this.#deps
    return goOnPastUnreadable(log, () => publishApiEndpoints(objects, [this.#self]))
  }

  /** Adds this master to the others, and to the endpoints. Throws ExpectedError if they have other settings. */
  async join(): Promise<void> {
    await this.#requireSame()
    await this.#enter()
    await this.#reconcile()
  }

  /** Keeps the entry and the endpoints until the signal aborts; the others then forget this master at once. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await runAll(signal, [
        (scope) => this.#forever(entering, () => this.#renew(scope), scope),
        (scope) => this.#forever(watching, () => this.#follow(scope), scope),
        (scope) => this.#forever(publishing, () => this.#keep(scope), scope),
      ])
    } finally {
      await this.#leave()
    }
    signal.throwIfAborted()
  }

  async #requireSame(): Promise<void> {
    const { entries } = await this.#deps.store.list({ prefix })
    for (const { key, value } of entries) {
      const { settings = {}, address } = masterOf(value) ?? {}
      if (key === keyOf(this.#self)) continue
      for (const [option, own] of Object.entries(this.#settings)) {
        const theirs = settings[option]
        if (theirs === undefined || theirs === own) continue
        throw wrongUse(
          `${option} ${own}: the master at ${address} has ${theirs}, and all need the same`,
        )
      }
    }
  }

  async #enter(): Promise<void> {
    const { store } = this.#deps
    const { leaseId } = await store.grantLease(ttlSeconds)
    const value = Buffer.from(JSON.stringify({ ...this.#self, settings: this.#settings }))
    await store.write({ key: keyOf(this.#self), value, leaseId })
    this.#leaseId = leaseId
    this.#isLost = false
  }

  async #renew(signal: AbortSignal): Promise<never> {
    const { store, clock } = this.#deps
    for (;;) {
      if (this.#isLost || this.#leaseId === undefined) await this.#enter()
      await clock.sleep(renewMs, signal)
      if (this.#leaseId === undefined) continue
      this.#isLost = true
      await store.keepLeaseAlive(this.#leaseId)
      this.#isLost = false
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { store } = this.#deps
    // The entries are listed whenever one changes, so that nothing is lost where a watch begins.
    this.#changed.raise()
    for await (const { events } of store.watch({ prefix, afterRevision: 0 }, signal)) {
      if (events.length > 0) this.#changed.raise()
    }
  }

  async #keep(signal: AbortSignal): Promise<never> {
    const { clock } = this.#deps
    for (;;) {
      using _timer = clock.setTimer(reconcileMs, () => this.#changed.raise())
      await this.#changed.wait(signal)
      await this.#reconcile()
    }
  }

  async #reconcile(): Promise<void> {
    const { store, objects, log } = this.#deps
    const { revision, entries } = await store.list({ prefix })
    if (revision < this.#revision) return
    this.#revision = revision
    const listed = entries.flatMap(({ value }) => masterOf(value) ?? [])
    await goOnPastUnreadable(log, () => publishApiEndpoints(objects, listed))
  }

  async #leave(): Promise<void> {
    const leaseId = this.#leaseId
    if (leaseId === undefined) return
    try {
      await this.#deps.store.revokeLease(leaseId)
    } catch (error) {
      logFailure(this.#deps.log, { ...leaving, error })
    }
  }

  async #forever(
    what: Pick<typeof entering, 'subject' | 'message'>,
    work: Task,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, random, log } = this.#deps
    const backoff = createBackoff(retry, random)
    while (!signal.aborted) {
      try {
        await work(signal)
        backoff.reset()
      } catch (error) {
        if (signal.aborted) break
        logFailure(log, { ...what, error })
      }
      await clock.sleep(backoff.nextMs(), signal)
    }
    signal.throwIfAborted()
  }
}

function keyOf({ address, port }: Master): string {
  return `${prefix}${hostAndPort({ host: address, port })}`
}

/** An entry that another version wrote in another form counts for nothing. */
function masterOf(value: Uint8Array): (Master & { settings?: CommonSettings }) | undefined {
  try {
    const { address, port, settings } = JSON.parse(Buffer.from(value).toString())
    const isOne = typeof address === 'string' && Number.isInteger(port)
    return isOne ? { address, port, settings: settings ?? {} } : undefined
  } catch {
    // A damaged entry is that of a master, which writes it again under its next lease.
    return undefined
  }
}
