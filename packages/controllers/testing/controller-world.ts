import { linkedSignal, silentLogger, systemClock, systemRandom, type Clock } from '@skerry/base'
import { StatusError, type KubeObject, type Pod } from '@skerry/api'
import {
  createCluster,
  keyOfObject,
  parseKey,
  resources,
  type ClusterClient,
  type Informer,
  type ResourceClient,
  type Transport,
  type TypedResource,
} from '@skerry/client'
import {
  createInformerSet,
  type BackgroundController,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { untilSeen } from '@skerry/testing'
import { namedControllers } from '../controllers-table.ts'
import { runControllers } from '../run-controllers.ts'

/** The fate of a pod on a test's node; `stuck` leaves it pending. */
export type PodBehaviour = 'run' | 'succeed' | 'fail' | 'stuck'

export interface ControllerWorld extends AsyncDisposable {
  readonly cluster: ClusterClient
  readonly signal: AbortSignal
  client<T extends KubeObject>(resource: TypedResource<T>): ResourceClient<T>
  /** Resolves with the result of `see` once there is one. Rejects after ten seconds. */
  eventually<T extends KubeObject, R>(
    resource: TypedResource<T>,
    see: (objects: readonly T[]) => R | undefined,
  ): Promise<R>
}

export interface WorldOptions {
  /** A transport to the test's API server, as its administrator. */
  transport: Transport
  controllers: readonly string[]
  /** Controllers created with a configuration. */
  configured?: readonly (BackgroundController | ControllerDefinition)[]
  behaviour?: (pod: Pod) => PodBehaviour
  /** The controllers' clock. Default: the system's. */
  clock?: Clock
}

/** Runs some controllers on an API server, and a node that only sets pod status. */
export function startControllerWorld(options: WorldOptions): ControllerWorld {
  const scopes = new AsyncDisposableStack()
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  const cluster = createCluster(options.transport, { ...deps, userAgent: 'skerry-test' })
  const informers = createInformerSet(cluster, deps)
  const scope = scopes.use(linkedSignal(new AbortController().signal))
  const node = informers.informer(resources.pods)
  const subscription = scopes.use(playNode({ cluster, node, options, signal: scope.signal }))
  const running = [
    quiet(informers.run(scope.signal), scope.signal),
    quiet(
      runControllers(
        [...namedControllers(options.controllers), ...(options.configured ?? [])],
        { ...deps, clock: options.clock ?? systemClock, cluster },
        scope.signal,
      ),
      scope.signal,
    ),
  ]
  scopes.defer(async () => {
    subscription[Symbol.dispose]()
    scope.abort(new Error('Test ended'))
    await Promise.all(running)
  })
  return {
    cluster,
    signal: scope.signal,
    client: (resource) => cluster.resource(resource),
    async eventually(resource, see) {
      const informer = informers.informer(resource)
      await informer.whenSynced(scope.signal)
      return untilSeen(informer, see)
    },
    [Symbol.asyncDispose]: () => scopes.disposeAsync(),
  }
}

async function quiet(running: Promise<unknown>, signal: AbortSignal): Promise<void> {
  try {
    await running
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

interface NodeParts {
  cluster: ClusterClient
  node: Informer<Pod>
  options: WorldOptions
  signal: AbortSignal
}

function playNode({ cluster, node, options, signal }: NodeParts): Disposable {
  const pods = cluster.resource(resources.pods)
  const behave = options.behaviour ?? (() => 'run')
  return node.onChange(({ type, object }) => {
    if (type === 'deleted') return
    void play(pods, { pod: object, behaviour: behave(object) }, signal)
  })
}

async function play(
  pods: ResourceClient<Pod>,
  { pod, behaviour }: { pod: Pod; behaviour: PodBehaviour },
  signal: AbortSignal,
): Promise<void> {
  const key = parseKey(keyOfObject(pod))
  try {
    if (pod.metadata.deletionTimestamp) {
      if (pod.metadata.deletionGracePeriodSeconds === 0) return
      await pods.delete({ ...key, gracePeriodSeconds: 0 }, signal)
    } else if (pod.status?.phase === 'Pending' && behaviour !== 'stuck') {
      const patch = { status: statusOf(pod, behaviour) }
      await pods.patchStatus({ ...key, type: 'merge', patch }, signal)
    }
  } catch (error) {
    // The pod was deleted while the node changed it; any other error would show in the test's
    // result.
    if (!(error instanceof StatusError) && !signal.aborted) throw error
  }
}

function statusOf(pod: Pod, behaviour: PodBehaviour): object {
  const now = `${new Date().toISOString().slice(0, 19)}Z`
  const isRunning = behaviour === 'run'
  const exitCode = behaviour === 'fail' ? 1 : 0
  const state = isRunning
    ? { running: { startedAt: now } }
    : { terminated: { exitCode, startedAt: now, finishedAt: now } }
  return {
    phase: isRunning ? 'Running' : behaviour === 'fail' ? 'Failed' : 'Succeeded',
    conditions: [{ type: 'Ready', status: isRunning ? 'True' : 'False', lastTransitionTime: now }],
    containerStatuses: (pod.spec?.containers ?? []).map(({ name, image = '' }) => ({
      name,
      image,
      imageID: '',
      ready: isRunning,
      restartCount: 0,
      state,
    })),
  }
}
