import type { Pod } from '@skerry/api'
import type { ContainerRuntime } from '../cri/container-runtime.ts'
import { ignoreNotFound } from '../cri/ignore-not-found.ts'
import { stopSandbox } from '../cri/stop-sandbox.ts'
import { gracePeriodSeconds } from '../pod/pod-spec.ts'
import { runtimeLabels } from './runtime-labels.ts'
import { kubeletBounds } from '../limits-table.ts'

const { graceSecondsMax } = kubeletBounds.stopAllPods

/**
 * Ends every container and sandbox on the node. It does not report that to the API: the pods will be started
 * again.
 */
export async function stopAllPods(
  runtime: ContainerRuntime,
  pods: readonly Pod[],
  signal: AbortSignal,
): Promise<void> {
  const graces = new Map(pods.map((pod) => [pod.metadata.uid, gracePeriodSeconds(pod)]))
  const containers = await runtime.listContainers(signal)
  await Promise.all(
    containers
      .filter(({ state }) => state === 'CONTAINER_RUNNING')
      .map(({ id, labels }) => {
        const grace = graces.get(labels[runtimeLabels.podUid]) ?? graceSecondsMax
        return ignoreNotFound(runtime.stopContainer(id, Math.min(grace, graceSecondsMax), signal))
      }),
  )
  for (const { id, state } of await runtime.listPodSandboxes(signal)) {
    if (state === 'SANDBOX_READY') await stopSandbox(runtime, id, signal)
  }
}
