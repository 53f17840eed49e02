import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, createEventSink, resources, type ClusterClient } from '@skerry/client'
import { createInformerSet, runController } from '@skerry/controller-runtime'
import { builtinKinds } from '@skerry/kinds'
import { startTestApiServer, untilObject } from '@skerry/testing'
import { edgeClusterController, type EdgeClusterDeps } from '../engine/edge-cluster-controller.ts'
import { edgeClusterKind } from '../kind/edge-cluster-kind.ts'
import { edgeClusterResource, type EdgeCluster } from '../kind/edge-cluster.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }

/** An API server with the kind EdgeCluster, the Secret `ssh` of namespace default, and the controller. */
export interface ControllerScene extends AsyncDisposable {
  readonly api: ClusterClient
  /** Resolves with the object once it is as told; undefined stands for one that is gone. */
  until(is: (found: EdgeCluster | undefined) => boolean): Promise<EdgeCluster | undefined>
}

export const sceneKey = { namespace: 'default', name: 'branch-7' }

export async function startControllerScene(
  parts: EdgeClusterDeps,
  signal: AbortSignal,
): Promise<ControllerScene> {
  const kinds = await builtinKinds()
  await using stack = new AsyncDisposableStack()
  const kind = edgeClusterKind(kinds, () => ['0.1.0'])
  const server = stack.use(await startTestApiServer({ kinds: [...kinds, kind] }))
  const api = createCluster(server.transport, deps)
  const secret = { metadata: { ...sceneKey, name: 'ssh' }, data: { password: btoa('password') } }
  await api
    .resource(resources.secrets)
    .create({ apiVersion: 'v1', kind: 'Secret', ...secret }, signal)
  const informers = createInformerSet(api, deps)
  const events = createEventSink(api, deps)
  const stop = linkedSignal(signal)
  const context = { ...deps, cluster: api, informers, events }
  const running = runAll(stop.signal, [
    (scope) => informers.run(scope),
    (scope) => events.run(scope),
    (scope) => runController(edgeClusterController(parts), context, scope),
  ])
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const owned = stack.move()
  const wanted = { resource: edgeClusterResource, key: sceneKey }
  return {
    api,
    until: (is) => untilObject(api, wanted, is, signal),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
