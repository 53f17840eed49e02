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
import { aggregationLimits } from '../limits-table.ts'

export interface ApiServiceWatchDeps {
  readonly registry: RegistryDeps
  readonly objects: Objects
  readonly calls: ExtensionCallDeps
  /** Called when a remote APIService becomes available or unavailable. */
  readonly onAvailability: () => void
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

/** Registers this server's own APIServices and keeps every APIService's Available condition up to date. */
export interface ApiServiceWatch {
  /** Changes when an APIService changes, or when its server announces other resources. */
  version(): number
  /** Returns the resources that the APIService's server announced last. */
  resources(name: string): readonly ApiResource[] | undefined
  run(signal: AbortSignal): Promise<void>
}

/** The state of one remote APIService. */
interface Remote {
  resources: readonly ApiResource[] | undefined
  /** The monotonic time of the next check. */
  dueMs: number
  failures: number
  /** A changed spec means another server, so everything known about the former one is dropped. */
  readonly specText: string
}

interface State {
  readonly remotes: Map<string, Remote>
  /** The gauge is 1 while a remote APIService is unavailable. */
  readonly unavailable: ReturnType<Metrics['gauge']>
  changes: number
  /** Raised when something local changes: a CRD or an APIService. */
  readonly localWake: WakeFlag
  /** Raised when something changes that a remote check may depend on. */
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

/** Runs apart from the local APIServices, so that an unresponsive server does not hold them up. */
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

/** Makes checks due at once when anything changes that may affect their outcome. */
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
    // Services change all the time; it matters only if an extension server stands behind one.
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
    // Writing can fail, e.g. because the store is full. The server goes on, and the next check
    // tries again.
    log.info('Availability of an APIService not written', {
      name,
      error: asError(error),
    })
  }
}
