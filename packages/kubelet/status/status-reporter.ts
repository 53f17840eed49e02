import { createBackoff, createWakeFlag, type Clock, type Logger, type Random } from '@skerry/base'
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
  /** The pod in the API that stands for this one; undefined while there is none. */
  targetOf: (pod: Pod) => Pod | undefined
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
  readonly #changed = createWakeFlag()

  constructor(deps: StatusReporterDeps) {
    this.#deps = deps
  }

  get(uid: string): PodStatus | undefined {
    return this.#entries.get(uid)?.status
  }

  get runningCount(): number {
    return [...this.#entries.values()].filter(({ status }) => status.phase === 'Running').length
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
    this.#changed.raise()
  }

  /** After this the pod is deleted from the API, if its deletion was asked for. */
  reclaimed(pod: Pod): void {
    const entry = this.#entries.get(pod.metadata.uid ?? '')
    if (!entry) return
    entry.pod = pod
    if (entry.isReclaimed && entry.isDone) return
    entry.isReclaimed = true
    this.#changed.raise()
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
        await this.#changed.wait(signal)
      } else await this.#deps.clock.sleep(backoff.nextMs(), signal)
    }
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
    const { status } = entry
    const pod = this.#deps.targetOf(entry.pod)
    if (!pod) return
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
