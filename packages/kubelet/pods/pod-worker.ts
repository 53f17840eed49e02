import { isDeepStrictEqual } from 'node:util'
import {
  asError,
  createBackoff,
  createWakeFlag,
  logFailure,
  linkedSignal,
  runAll,
  type Backoff,
} from '@skerry/base'
import type { Pod, PodStatus } from '@skerry/api'
import { isRuntimeError } from '../cri/container-runtime.ts'
import type { NodeContext } from './node-context.ts'
import { ProbeSet } from '../probes/probe-set.ts'
import { podStatus } from '../status/pod-status.ts'
import type { Rejection } from '../resources/admit-pod.ts'
import { computeResources, decideResize, type ResizeDecision } from '../resources/resize.ts'
import { VolumeError } from '../volumes/volume.ts'
import { podGarbage } from './container-garbage.ts'
import { containerEvent } from '../pod/container-event.ts'
import { killContainer } from './kill-container.ts'
import type { ComputeResources, ObservedPod } from '../pod/observed-pod.ts'
import { deadlineMs, endOfPod } from './pod-end.ts'
import { planPod } from '../plan/plan-pod.ts'
import {
  backoffKey,
  type KillAction,
  type PodPlan,
  type StartAction,
  type Termination,
} from '../plan/pod-actions.ts'
import { PodResources } from './pod-resources.ts'
import { describePod, gracePeriodSeconds, isHostNetwork } from '../pod/pod-spec.ts'
import { nextBackoff, type RestartBackoff } from '../pod/restart-backoff.ts'
import { StartError } from '../pod/start-error.ts'
import { kubeletBounds, workerDefaults } from '../limits-table.ts'

const isResized = ({ reason }: KillAction): boolean => reason === 'resized'

interface StartFailure {
  reason: string
  message: string
  /** Uses monotonic time: after a wall clock is set back, a container must not wait for years. */
  retryAtMs: number
}

/**
 * Brings one pod into the state of its spec and keeps it there, until the pod is gone. It observes, plans
 * (planPod), acts, and begins again; it trusts no earlier decision.
 */
export class PodWorker {
  readonly #context: NodeContext
  readonly #resources: PodResources
  readonly #backoffs = new Map<string, RestartBackoff>()
  readonly #failures = new Map<string, StartFailure>()
  readonly #announced = new Map<string, number>()
  readonly #retries: Backoff
  readonly #refuseResize: (pod: Pod) => Rejection | undefined
  readonly #applied = new Map<string, ComputeResources>()
  /** Something changed since the last observation. */
  readonly #changed = createWakeFlag()
  #pod: Pod
  /** The pod with the resources that the node has room for. */
  #resize: ResizeDecision
  #isRemoved = false
  #isReclaimed = false
  #termination: Termination | undefined
  #areVolumesStale = true
  #interrupt: ((reason: Error) => void) | undefined

  constructor(
    context: NodeContext,
    pod: Pod,
    refuseResize: (pod: Pod) => Rejection | undefined = () => undefined,
  ) {
    this.#context = context
    this.#pod = pod
    this.#resize = { pod }
    this.#refuseResize = refuseResize
    this.#resources = new PodResources(context)
    this.#retries = createBackoff(kubeletBounds.podWorker.retry, context.random)
  }

  get pod(): Pod {
    return this.#pod
  }

  get isTerminating(): boolean {
    return this.#termination !== undefined
  }

  /** The pod as the API now has it. */
  update(pod: Pod): void {
    // Volumes may contain these (downward API).
    const { labels, annotations } = this.#pod.metadata
    const isSame =
      isDeepStrictEqual(labels, pod.metadata.labels) &&
      isDeepStrictEqual(annotations, pod.metadata.annotations)
    if (!isSame) this.#areVolumesStale = true
    this.#pod = pod
    this.#checkEnd()
    this.wake()
  }

  /** The pod is gone from the API (or its manifest is): end it and leave nothing behind. */
  remove(last: Pod): void {
    this.#pod = last
    this.#isRemoved = true
    this.#checkEnd()
    this.wake()
  }

  /** Ends the pod for a reason of the node's own, with which it fails. */
  evict(failure: { reason: string; message: string }, graceSeconds: number): void {
    if (this.#termination) return
    this.#beginEnd({ graceSeconds, failure })
    this.wake()
  }

  /** Called when the content of its volumes has changed. */
  refreshVolumes(): void {
    this.#areVolumesStale = true
    this.wake()
  }

  wake(): void {
    this.#changed.raise()
  }

  /** Resolves when nothing of the pod is left on the node. */
  async run(signal: AbortSignal): Promise<void> {
    await using probes = new ProbeSet(this.#context, () => this.wake(), signal)
    while (!signal.aborted) {
      this.#changed.lower()
      using scope = linkedSignal(signal)
      this.#interrupt = (reason) => scope.abort(reason)
      try {
        const next = await this.#sync(probes, scope.signal)
        if (next === 'gone') return
        if (next !== 'again') await this.#sleepUntil(next, signal)
      } catch (error) {
        if (signal.aborted) throw error
        if (!scope.signal.aborted) await this.#onFailure(error, signal)
      } finally {
        this.#interrupt = undefined
      }
    }
  }

  async #sync(probes: ProbeSet, signal: AbortSignal): Promise<'gone' | 'again' | number> {
    const { observer, clock } = this.#context
    const observed = await observer.observe(this.#uid, signal)
    const nowMs = clock.now()
    this.#checkEnd()
    this.#decideResize(observed)
    const plan = this.#plan(observed, probes, nowMs)
    if (plan.isFinished && !this.#termination) {
      this.#beginEnd({ graceSeconds: gracePeriodSeconds(this.#pod) })
      return 'again'
    }
    const podIp = observed.sandboxes.find(({ isReady }) => isReady)?.ips[0]
    this.#place(podIp)
    probes.reconcile(this.#pod, observed, podIp ?? this.#context.facts.hostIps[0] ?? '')
    this.#publish(observed, { plan, probes, nowMs })
    if (this.#termination) return this.#end(observed, plan, signal)
    if (await this.#act(observed, plan, signal)) return 'again'
    // The reason why a container could not start is known only now.
    this.#publish(observed, { plan, probes, nowMs })
    await this.#resources.collectGarbage(this.#pod, podGarbage(observed), signal)
    this.#retries.reset()
    return this.#nextWake(plan, nowMs)
  }

  get #uid(): string {
    return this.#pod.metadata.uid ?? ''
  }

  #decideResize(observed: ObservedPod): void {
    const ids = new Set(observed.containers.map(({ id }) => id))
    for (const id of this.#applied.keys()) if (!ids.has(id)) this.#applied.delete(id)
    const facts = { observed, applied: this.#applied }
    this.#resize = decideResize(this.#pod, facts, this.#refuseResize)
  }

  #plan(observed: ObservedPod, probes: ProbeSet, nowMs: number): PodPlan {
    const plan = planPod({
      pod: this.#resize.pod,
      applied: this.#applied,
      observed,
      probes: probes.results,
      backoffs: this.#backoffs,
      ...(this.#termination ? { termination: this.#termination } : {}),
      nowMs,
    })
    const start = plan.start.filter(({ container }) => this.#untilRetryMs(container.name) <= 0)
    return { ...plan, start }
  }

  /** Decides from the pod itself whether it must end; an end is never taken back. */
  #checkEnd(): void {
    const previous = this.#context.statuses.get(this.#uid) ?? this.#pod.status ?? {}
    const nowMs = this.#context.clock.now()
    const end = endOfPod({ pod: this.#pod, isRemoved: this.#isRemoved, previous, nowMs })
    if (end) this.#beginEnd(end)
  }

  #beginEnd(end: { graceSeconds: number; failure?: { reason: string; message: string } }): void {
    const current = this.#termination
    if (current && end.graceSeconds >= current.graceSeconds) return
    const startedAtMs = current?.startedAtMs ?? this.#context.clock.now()
    this.#termination = { ...current, ...end, startedAtMs }
    this.#interrupt?.(new Error('The pod ends'))
  }

  #publish(
    observed: ObservedPod,
    { plan, probes, nowMs }: { plan: PodPlan; probes: ProbeSet; nowMs: number },
  ): void {
    const { statuses, facts } = this.#context
    const previous: PodStatus = statuses.get(this.#uid) ?? this.#pod.status ?? {}
    const failure = this.#termination?.failure
    const isTerminal = this.#termination !== undefined && plan.kill.length === 0
    const waiting = new Map<string, { reason: string; message: string }>(this.#failures)
    for (const one of plan.backOff) waiting.set(one.name, one)
    this.#announce(plan)
    const { pod, pending } = this.#resize
    const isResizing = plan.update.length + plan.kill.filter(isResized).length > 0
    const status = podStatus({
      pod,
      applied: this.#applied,
      ...(pending ? { resizePending: pending } : {}),
      isResizing,
      observed,
      previous,
      waiting,
      probes: probes.results,
      ...(failure ? { failure } : {}),
      isTerminal,
      hostIps: facts.hostIps,
      isCutOff: this.#context.network.isCutOff(),
      nowMs,
    })
    statuses.set(this.#pod, status)
  }

  #announce(plan: PodPlan): void {
    for (const { name, untilMs } of plan.backOff) {
      if (this.#announced.get(name) === untilMs) continue
      this.#announced.set(name, untilMs)
      const message = `Back-off restarting failed container ${name} in pod ${describePod(this.#pod)}`
      containerEvent(this.#context.events, this.#pod, name, {
        type: 'Warning',
        reason: 'BackOff',
        message,
      })
    }
  }

  /** True when something was done and the world must be looked at again. */
  async #act(observed: ObservedPod, plan: PodPlan, signal: AbortSignal): Promise<boolean> {
    const { kill, stopSandboxes, createSandbox, start } = plan
    const needsVolumes = start.length > 0 || createSandbox !== undefined
    await this.#kill(plan, observed, signal)
    await this.#update(plan, signal)
    await this.#resources.stopSandboxes(stopSandboxes, signal)
    if (needsVolumes || this.#areVolumesStale || this.#resources.mustRefresh()) {
      this.#areVolumesStale = false
      await this.#resources.setUp(this.#resize.pod, signal)
    }
    if (createSandbox !== undefined) {
      if (createSandbox > 0) this.#sandboxChanged()
      const sandbox = await this.#resources.createSandbox(this.#pod, createSandbox, signal)
      await this.#start(start, { sandbox, observed }, signal)
      return true
    }
    const didChange = kill.length + plan.update.length + stopSandboxes.length > 0
    if (start.length === 0) return didChange
    const sandbox = this.#resources.sandboxOf(this.#pod, observed)
    const startedCount = await this.#start(start, { sandbox, observed }, signal)
    return startedCount > 0 || kill.length > 0 || plan.update.length > 0
  }

  async #update({ update }: PodPlan, signal: AbortSignal): Promise<void> {
    if (update.length === 0) return
    await this.#resources.update(this.#resize.pod, update, signal)
    for (const { observed, container } of update)
      this.#applied.set(observed.id, computeResources(container))
  }

  #sandboxChanged(): void {
    this.#context.events.event(this.#pod, {
      type: 'Normal',
      reason: 'SandboxChanged',
      message: 'Pod sandbox changed, it will be killed and re-created.',
    })
  }

  async #kill(plan: PodPlan, observed: ObservedPod, signal: AbortSignal): Promise<void> {
    const podIp = observed.sandboxes[0]?.ips[0] ?? this.#context.facts.hostIps[0] ?? ''
    const kills = plan.kill.map((action) => (scope: AbortSignal) => {
      return killContainer(this.#context, { pod: this.#pod, podIp, action }, scope)
    })
    await runAll(signal, kills)
    signal.throwIfAborted()
  }

  /** Starts containers one after the other, in the order of the spec; resolves with the number started. */
  async #start(
    actions: readonly StartAction[],
    where: {
      sandbox: { id: string; attempt: number; ips: readonly string[] }
      observed: ObservedPod
    },
    signal: AbortSignal,
  ): Promise<number> {
    let startedCount = 0
    this.#place(where.sandbox.ips[0])
    if (actions.length > 0 && !isHostNetwork(this.#pod))
      await this.#context.isolation.whenKept(this.#pod, signal)
    for (const action of actions) {
      const { name } = action.container
      if (action.afterExitMs !== undefined) {
        this.#noteRestart(backoffKey(action.container), action.afterExitMs)
      }
      try {
        await this.#resources.start(this.#resize.pod, { action, ...where }, signal)
        this.#failures.delete(name)
        startedCount += 1
      } catch (error) {
        if (!(error instanceof StartError)) throw error
        this.#failures.set(name, this.#failureOf(error))
        if (action.kind === 'init' || action.kind === 'sidecar') return startedCount
      }
    }
    return startedCount
  }

  #place(address: string | undefined): void {
    if (address === undefined || isHostNetwork(this.#pod)) return
    this.#context.isolation.placed(this.#pod, address)
  }

  #noteRestart(key: string, finishedAtMs: number): void {
    const times = { finishedAtMs, nowMs: this.#context.clock.now() }
    this.#backoffs.set(key, nextBackoff(this.#backoffs.get(key), times))
  }

  #failureOf(error: StartError): StartFailure {
    const { retryMs, pullRetryMs } = workerDefaults
    const delayMs = error.retryAfterMs ?? (error.reason === 'ErrImagePull' ? pullRetryMs : retryMs)
    const retryAtMs = this.#context.clock.monotonicMs() + delayMs
    return { reason: error.reason, message: error.message, retryAtMs }
  }

  async #end(
    observed: ObservedPod,
    plan: PodPlan,
    signal: AbortSignal,
  ): Promise<'gone' | 'again' | number> {
    await this.#kill(plan, observed, signal)
    await this.#resources.stopSandboxes(plan.stopSandboxes, signal)
    if (!plan.isFinished || plan.stopSandboxes.length > 0) return 'again'
    this.#context.isolation.gone(this.#pod)
    if (!this.#isReclaimed) {
      await this.#resources.reclaim(this.#pod, signal)
      this.#isReclaimed = true
    }
    if (this.#isRemoved) {
      await this.#resources.remove(this.#pod, observed, signal)
      this.#context.statuses.forget(this.#uid)
      return 'gone'
    }
    this.#context.statuses.reclaimed(this.#pod)
    return this.#context.clock.now() + workerDefaults.resyncMs
  }

  #nextWake(plan: PodPlan, nowMs: number): number {
    const deadline = deadlineMs(this.#pod, this.#context.statuses.get(this.#uid) ?? {})
    return Math.min(
      nowMs + (this.#resize.pending ? workerDefaults.resizeRetryMs : workerDefaults.resyncMs),
      plan.wakeAtMs ?? Infinity,
      this.#resources.refreshAtMs ?? Infinity,
      deadline ?? Infinity,
      // Rounded up: a part of a millisecond may be lost in the sum, and the pod would be planned again at once, for ever. One
      // that may be tried now is held back by the plan, which names its own time.
      ...[...this.#failures.keys()]
        .map((name) => Math.ceil(this.#untilRetryMs(name)))
        .filter((leftMs) => leftMs > 0)
        .map((leftMs) => nowMs + leftMs),
    )
  }

  /** Returns the remaining delay; 0 or less if a start may be tried. */
  #untilRetryMs(name: string): number {
    const retryAtMs = this.#failures.get(name)?.retryAtMs
    return retryAtMs === undefined ? 0 : retryAtMs - this.#context.clock.monotonicMs()
  }

  async #sleepUntil(atMs: number, signal: AbortSignal): Promise<void> {
    // Never for longer: the wall clock may have been set back since that time was reckoned.
    const leftMs = Math.min(atMs - this.#context.clock.now(), workerDefaults.resyncMs)
    using _timer = this.#context.clock.setTimer(Math.max(0, leftMs), this.#changed.raise)
    await this.#changed.wait(signal)
  }

  /** Schedules another attempt after a growing delay; a change of the pod comes first. */
  async #onFailure(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, events, log } = this.#context
    const cause = asError(error)
    if (cause instanceof VolumeError) {
      const text = { reason: 'FailedMount', message: cause.message }
      events.event(this.#pod, { type: 'Warning', ...text })
    } else if (!isRuntimeError(error, 'Unavailable')) {
      const text = { reason: 'FailedSync', message: `error syncing pod: ${cause.message}` }
      if (!(error instanceof StartError)) events.event(this.#pod, { type: 'Warning', ...text })
    }
    const { namespace, name } = this.#pod.metadata
    const subject = 'Synchronization of a pod'
    const fields = { namespace, pod: name }
    logFailure(log, { subject, message: 'Pod not synced', level: 'debug', error, fields })
    await this.#sleepUntil(clock.now() + this.#retries.nextMs(), signal)
  }
}
