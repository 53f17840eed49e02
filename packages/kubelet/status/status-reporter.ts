import {
  asError,
  createBackoff,
  createWakeFlag,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { StatusError, isStatusError, type Pod, type PodStatus } from '@skerry/api'
import { compareResourceVersions, resources, type ClusterClient } from '@skerry/client'
import { isSameStatus } from './pod-status.ts'
import { statusPatch } from './status-patch.ts'
import { kubeletBounds } from '../limits-table.ts'

export interface StatusReporterDeps {
  cluster: ClusterClient
  clock: Clock
  random: Random
  log: Logger
  /**
   * Returns the pod as the API has it, or its mirror; undefined while that is not known. It never returns a
   * copy from this node's disk, whose status may not have reached the API.
   */
  targetOf: (pod: Pod) => Pod | undefined
  /** Called with each status that differs from the one before. */
  onStatus: (uid: string, status: PodStatus) => void
}

interface Entry {
  pod: Pod
  status: PodStatus
  /** The status sent last, and the version that the API gave it. */
  sent: PodStatus | undefined
  sentVersion: string
  /** True if nothing is left on this node, so the pod may be deleted from the API. */
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
      const fresh = { pod, status, sent: undefined, sentVersion: '' }
      this.#entries.set(uid, { ...fresh, isReclaimed: false, isDone: false })
    } else {
      entry.pod = pod
      // It checks even without a change here: the API's copy may have changed.
      this.#changed.raise()
      if (isSameStatus(entry.status, status)) return
      entry.status = status
    }
    this.#deps.onStatus(uid, status)
    this.#changed.raise()
  }

  /** Allows the pod's deletion from the API, if that was requested. */
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
    const backoff = createBackoff(kubeletBounds.statusReporter.retry, this.#deps.random)
    while (!signal.aborted) {
      const isAllSent = await this.#sendAll(signal)
      if (isAllSent) {
        backoff.reset()
        await this.#changed.wait(signal)
      } else await this.#deps.clock.sleep(backoff.nextMs(), signal)
    }
  }

  #isPending(entry: Entry): boolean {
    const target = this.#deps.targetOf(entry.pod)
    if (entry.isDone || !target) return false
    const { deletionTimestamp, uid = '' } = target.metadata
    if (entry.isReclaimed && deletionTimestamp !== undefined) return true
    return statusPatch(uid, this.#knownStatus(entry, target), entry.status) !== undefined
  }

  /**
   * Returns the API's status: the one sent last, unless the API's copy is newer, as after a restore from
   * backup.
   */
  #knownStatus({ sent, sentVersion }: Entry, target: Pod): PodStatus {
    const { resourceVersion = '' } = target.metadata
    const isNewer = (compareResourceVersions(resourceVersion, sentVersion) ?? 1) > 0
    return sent && !isNewer ? sent : (target.status ?? {})
  }

  /** False when one could not be sent. */
  async #sendAll(signal: AbortSignal): Promise<boolean> {
    let isAllSent = true
    const pending = [...this.#entries.values()].filter((entry) => this.#isPending(entry))
    for (const entry of pending) {
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
        // There was no answer at all, so the others would not get one either.
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
      const patch = statusPatch(uid, this.#knownStatus(entry, pod), status)
      if (patch) {
        const request = { namespace, name, type: 'strategic', patch } as const
        const { metadata } = await pods.patchStatus(request, signal)
        entry.sentVersion = metadata.resourceVersion ?? ''
      }
      entry.sent = status
      if (entry.isReclaimed && pod.metadata.deletionTimestamp && !entry.isDone) {
        await pods.delete(
          { namespace, name, gracePeriodSeconds: 0, preconditions: { uid } },
          signal,
        )
        entry.isDone = true
      }
    } catch (error) {
      // The pod is gone, or another one has taken its name, so there is nothing to update.
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
      // A mirror may be recreated; the pod itself never returns under its uid.
      entry.isDone = entry.pod.metadata.uid === uid
    }
  }
}
