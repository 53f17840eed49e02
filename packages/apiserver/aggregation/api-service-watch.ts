import type { ApiResource } from '@skerry/discovery'
import { isStatusError, type APIService, type APIServiceCondition, type Service } from '@skerry/api'
import {
  asError,
  createWakeFlag,
  runAll,
  type Clock,
  type Logger,
  type Metrics,
  type WakeFlag,
} from '@skerry/base'
import { followResource } from '../cache/follow-resource.ts'
import { resourceKey } from '../cache/watch-cache.ts'
import type { Objects } from '../contract/objects.ts'
import type { RegistryDeps } from '../registry/request-scope.ts'
import { apiTime } from '../contract/status-answers.ts'
import { getTyped, listTyped } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { aggregationLimits } from './aggregation-limits-table.ts'
import {
  localAvailability,
  unreachability,
  withAvailability,
  type Availability,
} from './availability.ts'
import { checkExtension } from './check-extension.ts'
import {
  extensionServerOf,
  type ExtensionCallDeps,
  type ExtensionServer,
} from './extension-server.ts'
import { apiServices, definitions, registerLocalApis } from './local-registrations.ts'
import { slicesOf } from './resolve-service.ts'

export interface ApiServiceWatchDeps {
  readonly registry: RegistryDeps
  readonly objects: Objects
  readonly calls: ExtensionCallDeps
  /** A remote one began or ceased to be available. */
  readonly onAvailability: () => void
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

/** Registers this server's own APIServices and keeps the Available condition of all true. */
export interface ApiServiceWatch {
  /** Changes when an APIService does, or what its server announces. */
  version(): number
  /** What the server of that APIService announced last. */
  resources(name: string): readonly ApiResource[] | undefined
  run(signal: AbortSignal): Promise<void>
}

/** What the watch keeps of one remote APIService. */
interface Remote {
  resources: readonly ApiResource[] | undefined
  /** When it is to be looked at again; monotonic. */
  dueMs: number
  failures: number
  /** Another spec is another server: what is known of the former one does not hold. */
  readonly specText: string
}

interface State {
  readonly remotes: Map<string, Remote>
  /** 1 while a remote one is not available. */
  readonly unavailable: ReturnType<Metrics['gauge']>
  changes: number
  /** Something local has changed: a CRD, or an APIService. */
  readonly localWake: WakeFlag
  /** Something that a remote one's check may depend on has changed. */
  readonly remoteWake: WakeFlag
}

export function createApiServiceWatch(deps: ApiServiceWatchDeps): ApiServiceWatch {
  const state: State = {
    remotes: new Map(),
    unavailable: deps.metrics.gauge(
      'aggregator_unavailable_apiservice',
      'APIServices whose server cannot be used now',
      ['name'],
    ),
    changes: 0,
    localWake: createWakeFlag(),
    remoteWake: createWakeFlag(),
  }
  return {
    version: () => deps.objects.version(apiServices) + state.changes,
    resources: (name) => state.remotes.get(name)?.resources,
    async run(signal) {
      using _listening = listenAll(state, deps)
      await registerLocalApis(registrationDeps(deps), true)
      await runAll(signal, [
        (scope) => watchLocal(state, deps, scope),
        (scope) => watchRemote(state, deps, scope),
      ])
    },
  }
}

async function watchLocal(
  { localWake }: State,
  deps: ApiServiceWatchDeps,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await registerLocalApis(registrationDeps(deps), false)
    const local = listTyped<APIService>(deps.objects, apiServices).filter(
      (apiService) => extensionServerOf(apiService) === undefined,
    )
    await Promise.all(local.map((each) => writeAvailability(each, localAvailability, deps)))
    await localWake.wait(signal)
  }
}

/** Apart from the local ones: a server that does not answer must not hold them up. */
async function watchRemote(
  state: State,
  deps: ApiServiceWatchDeps,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await lookAtRemotes(state, deps, signal)
    await untilDue(state, deps.clock, signal)
  }
}

function registrationDeps({ registry, objects, log }: ApiServiceWatchDeps) {
  return { objects, log, kinds: () => registry.kinds.all() }
}

/** Everything that may change the outcome of a check makes it due at once. */
function listenAll(state: State, deps: ApiServiceWatchDeps): Disposable {
  const stack = new DisposableStack()
  const listen = (
    { group, resource }: { group: string; resource: string },
    onChange: () => void,
  ): void => {
    if (!deps.registry.kinds.findStored({ group, resource })) return
    const follower = { onEvent: onChange, onReset: onChange }
    stack.use(followResource(deps.registry.cache, resourceKey(group, resource), follower))
  }
  const registration = (): void => {
    state.localWake.raise()
    state.remoteWake.raise()
  }
  listen(apiServices, registration)
  listen(definitions, registration)
  const reachability = (): void => {
    // Services change all the time; it matters only where an extension server stands behind one.
    if (state.remotes.size === 0) return
    for (const remote of state.remotes.values()) remote.dueMs = 0
    state.remoteWake.raise()
  }
  listen(wellKnown.services, reachability)
  listen(wellKnown.endpointSlices, reachability)
  return stack
}

async function untilDue(state: State, clock: Clock, signal: AbortSignal): Promise<void> {
  const dues = [...state.remotes.values()].map(({ dueMs }) => dueMs)
  if (dues.length === 0) return state.remoteWake.wait(signal)
  const ms = Math.max(0, Math.min(...dues) - clock.monotonicMs())
  using _timer = clock.setTimer(ms, () => state.remoteWake.raise())
  await state.remoteWake.wait(signal)
}

async function lookAtRemotes(
  state: State,
  deps: ApiServiceWatchDeps,
  signal: AbortSignal,
): Promise<void> {
  const remote = new Map<string, { apiService: APIService; server: ExtensionServer }>()
  for (const apiService of listTyped<APIService>(deps.objects, apiServices)) {
    const server = extensionServerOf(apiService)
    if (server) remote.set(apiService.metadata.name ?? '', { apiService, server })
  }
  for (const name of state.remotes.keys()) {
    if (remote.has(name)) continue
    state.remotes.delete(name)
    state.unavailable.remove({ name })
  }
  const waiting = remote.values()
  const work = async (scope: AbortSignal): Promise<void> => {
    for (const { apiService, server } of waiting) {
      await look(apiService, server, { state, deps }, scope)
    }
  }
  const workers = Math.min(remote.size, aggregationLimits.checksAtOnce)
  await runAll(
    signal,
    Array.from({ length: workers }, () => work),
  )
  signal.throwIfAborted()
}

async function look(
  apiService: APIService,
  server: ExtensionServer,
  { state, deps }: { state: State; deps: ApiServiceWatchDeps },
  signal: AbortSignal,
): Promise<void> {
  const name = apiService.metadata.name ?? ''
  const specText = JSON.stringify(apiService.spec)
  const known = state.remotes.get(name)
  const remote =
    known?.specText === specText ? known : { resources: undefined, dueMs: 0, failures: 0, specText }
  state.remotes.set(name, remote)
  if (remote.dueMs > deps.clock.monotonicMs()) return
  const { availability, resources } = await judge(apiService, server, deps, signal)
  if (resources) {
    remote.resources = resources
    state.changes += 1
  }
  const isGood = availability.status === 'True'
  state.unavailable.set({ name }, isGood ? 0 : 1)
  remote.failures = isGood ? 0 : remote.failures + 1
  const { checkIntervalMs, retryMinMs, retryMaxMs } = aggregationLimits
  const retryMs = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(remote.failures, 10))
  remote.dueMs = deps.clock.monotonicMs() + (isGood ? checkIntervalMs : retryMs)
  await writeAvailability(apiService, availability, deps)
}

async function judge(
  { spec }: APIService,
  server: ExtensionServer,
  { objects, calls }: ApiServiceWatchDeps,
  signal: AbortSignal,
): Promise<{ availability: Availability; resources?: readonly ApiResource[] | undefined }> {
  const { namespace, name } = server.service
  const service = getTyped<Service>(objects, wellKnown.services, { namespace, name })
  const unreachable = unreachability(server.service, service, slicesOf(objects, namespace, name))
  if (unreachable) return { availability: unreachable }
  const { group = '', version = '' } = spec ?? {}
  return checkExtension(server, { group, version }, calls, signal)
}

async function writeAvailability(
  { metadata, status }: APIService,
  availability: Availability,
  { objects, clock, log, onAvailability }: ApiServiceWatchDeps,
): Promise<void> {
  const now = apiTime(clock.now())
  if (!withAvailability(status?.conditions ?? [], availability, now)) return
  const { name = '' } = metadata
  try {
    await objects.update(apiServices, { namespace: '', name, subresource: 'status' }, (object) => {
      // The registry decoded the object against the schema that the type is made from.
      const current = object['status'] as { conditions?: APIServiceCondition[] } | undefined
      const conditions = withAvailability(current?.conditions ?? [], availability, now)
      if (!conditions) return false
      object['status'] = { ...current, conditions }
      return true
    })
    if (availability !== localAvailability) onAvailability()
    if (availability.status !== 'True') {
      log.info('APIService is not available', { name, reason: availability.reason })
    }
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return
    // A full store, say: the server goes on, and the next look tries again.
    log.info('Availability of an APIService not written', {
      name,
      error: asError(error),
    })
  }
}
