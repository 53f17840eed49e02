import { createBackoff, type Clock, type Logger, type Random } from '@skerry/base'
import { StatusError, isStatusError, type Pod, type PodStatus } from '@skerry/api'
import { resources, type Cluster } from '@skerry/client'
import { asError } from '../system-error.ts'
import { isSameStatus } from './pod-status.ts'
import { statusPatch } from './status-patch.ts'

export interface StatusReporterDeps {
  cluster: Cluster
  clock: Clock
  random: Random
  log: Logger
  /** Called with each status that differs from the one before. */
  onStatus: (uid: string, status: PodStatus) => void
}

interface Entry {
  pod: Pod
  status: PodStatus
  /** What the API is known to have; undefined: send whatever there is. */
  sent: PodStatus | undefined
  /** Everything is gone from this node: the pod may go from the API. */
  isReclaimed: boolean
  /** The API has the pod's end, or never had the pod. */
  isDone: boolean
}

/**
 * Tells the API what became of each pod, only when something changed, until it is accepted. Away
 * from the API the latest status of each pod waits; older ones are not worth sending.
 */
export class StatusReporter {
  readonly #deps: StatusReporterDeps
  readonly #entries = new Map<string, Entry>()
  #wake: (() => void) | undefined

  constructor(deps: StatusReporterDeps) {
    this.#deps = deps
  }

  get(uid: string): PodStatus | undefined {
    return this.#entries.get(uid)?.status
  }

  set(pod: Pod, status: PodStatus): void {
    const uid = pod.metadata.uid ?? ''
    const entry = this.#entries.get(uid)
    if (!entry) {
      const fresh = { pod, status, sent: undefined, isReclaimed: false, isDone: false }
      this.#entries.set(uid, fresh)
    } else {
      entry.pod = pod
      if (isSameStatus(entry.status, status)) return
      entry.status = status
    }
    this.#deps.onStatus(uid, status)
    this.#wake?.()
  }

  /** After this the pod is deleted from the API, if its deletion was asked for. */
  reclaimed(pod: Pod): void {
    const entry = this.#entries.get(pod.metadata.uid ?? '')
    if (!entry) return
    entry.pod = pod
    if (entry.isReclaimed && entry.isDone) return
    entry.isReclaimed = true
    this.#wake?.()
  }

  forget(uid: string): void {
    this.#entries.delete(uid)
  }

  async run(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff({ initialMs: 200, maxMs: 10_000 }, this.#deps.random)
    while (!signal.aborted) {
      const isAllSent = await this.#sendAll(signal)
      if (isAllSent) {
        backoff.reset()
        await this.#untilChange(signal)
      } else await this.#deps.clock.sleep(backoff.nextMs(), signal)
    }
  }

  async #untilChange(signal: AbortSignal): Promise<void> {
    if ([...this.#entries.values()].some(isPending)) return
    const changed = Promise.withResolvers<void>()
    this.#wake = changed.resolve
    signal.addEventListener('abort', () => changed.resolve(), { once: true })
    await changed.promise
    this.#wake = undefined
  }

  /** False when one could not be sent. */
  async #sendAll(signal: AbortSignal): Promise<boolean> {
    let isAllSent = true
    for (const entry of [...this.#entries.values()].filter(isPending)) {
      try {
        await this.#send(entry, signal)
      } catch (error) {
        signal.throwIfAborted()
        isAllSent = false
        this.#deps.log.debug('Cannot send pod status', {
          namespace: entry.pod.metadata.namespace,
          pod: entry.pod.metadata.name,
          error: asError(error),
        })
        // No answer at all: the others would not get one either.
        if (!(error instanceof StatusError)) return false
      }
    }
    return isAllSent
  }

  async #send(entry: Entry, signal: AbortSignal): Promise<void> {
    const { pod, status } = entry
    const { namespace = '', name = '', uid = '' } = pod.metadata
    const pods = this.#deps.cluster.resource(resources.pods)
    try {
      if (!isSameStatus(entry.sent, status)) {
        const known = entry.sent ?? pod.status ?? {}
        const patch = statusPatch(uid, known, status)
        if (patch) await pods.patchStatus({ namespace, name, type: 'strategic', patch }, signal)
        entry.sent = status
      }
      if (entry.isReclaimed && pod.metadata.deletionTimestamp && !entry.isDone) {
        await pods.delete(
          { namespace, name, gracePeriodSeconds: 0, preconditions: { uid } },
          signal,
        )
        entry.isDone = true
      }
    } catch (error) {
      // Gone, or another pod of the same name has taken its place: nobody is left to be told.
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
      entry.sent = status
      entry.isDone = true
    }
  }
}

function isPending(entry: Entry): boolean {
  if (entry.isDone) return false
  const mustDelete = entry.isReclaimed && entry.pod.metadata.deletionTimestamp !== undefined
  return mustDelete || !isSameStatus(entry.sent, entry.status)
}
