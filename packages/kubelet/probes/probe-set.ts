import { asError } from '@skerry/base'
import type { Pod } from '@skerry/api'
import type { ObservedPod } from '../pod/observed-pod.ts'
import { TaskGroup } from '../task-group.ts'
import { findContainer } from '../pod/pod-spec.ts'
import type { ProbeContext } from './probe-context.ts'
import type { ContainerProbes, ProbeResult } from './probe-results.ts'
import { runProber } from './prober.ts'
import { probeKinds, type ProbeKind } from './probe-count.ts'

/** The probers of one pod's running containers: started and stopped with them. */
export class ProbeSet implements AsyncDisposable {
  readonly #context: ProbeContext
  readonly #tasks: TaskGroup
  readonly #results = new Map<string, ContainerProbes>()
  readonly #onResult: () => void

  constructor(context: ProbeContext, onResult: () => void, signal: AbortSignal) {
    this.#context = context
    this.#onResult = onResult
    this.#tasks = new TaskGroup(signal, (_, error) => {
      context.log.error('Prober failed', { error: asError(error) })
    })
  }

  /** The results by container id; only of running containers. */
  get results(): ReadonlyMap<string, ContainerProbes> {
    return this.#results
  }

  reconcile(pod: Pod, observed: ObservedPod, podIp: string): void {
    const wanted = new Set<string>()
    for (const { id, name, state, startedAtMs } of observed.containers) {
      const container = findContainer(pod, name)?.container
      if (state !== 'running' || !container) continue
      for (const kind of probeKinds) {
        const probe = container[`${kind}Probe`]
        if (!probe) continue
        const task = `${id} ${kind}`
        wanted.add(task)
        if (this.#tasks.has(task) || this.#isDecided(id, kind)) continue
        const initial = resultBefore(this.#context, pod, { id, kind })
        const target = { pod, container, containerId: id, podIp, startedAtMs }
        const isStarted = (): boolean =>
          !container.startupProbe || this.#results.get(id)?.startup === 'success'
        const onResult = (result: ProbeResult): void => this.#note(id, kind, result)
        this.#tasks.add(task, (scope) =>
          runProber({ kind, probe, target, initial, isStarted, onResult }, this.#context, scope),
        )
      }
    }
    this.#stopOthers(wanted)
  }

  /** Reports whether a probe has its final result, and so is not started again. */
  #isDecided(id: string, kind: ProbeKind): boolean {
    const result = this.#results.get(id)?.[kind]
    if (kind === 'startup') return result === 'success' || result === 'failure'
    return kind === 'liveness' && result === 'failure'
  }

  #note(id: string, kind: ProbeKind, result: ProbeResult): void {
    const known = this.#results.get(id) ?? {}
    if (known[kind] === result) return
    this.#results.set(id, { ...known, [kind]: result })
    this.#onResult()
  }

  #stopOthers(wanted: ReadonlySet<string>): void {
    for (const name of this.#tasks.names()) if (!wanted.has(name)) this.#tasks.cancel(name)
    const ids = new Set([...wanted].map((name) => name.split(' ')[0] ?? ''))
    for (const id of this.#results.keys()) if (!ids.has(id)) this.#results.delete(id)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tasks[Symbol.asyncDispose]()
  }
}

/**
 * Takes over the reported result, so that a restart of the agent does not make a healthy pod unready for a
 * moment.
 */
function resultBefore(
  context: ProbeContext,
  pod: Pod,
  { id, kind }: { id: string; kind: ProbeKind },
): ProbeResult | undefined {
  const status = context.statuses.get(pod.metadata.uid ?? '') ?? pod.status
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
  const before = all.find(({ containerID }) => containerID === `containerd://${id}`)
  if (kind === 'startup') return before?.started ? 'success' : undefined
  return kind === 'readiness' && before?.ready ? 'success' : undefined
}
