import type { ContainerRuntime } from '../cri/container-runtime.ts'
import { ignoreNotFound } from '../cri/ignore-not-found.ts'

/** For a machine that is about to go down: nobody waits for longer graces then. */
const stopSeconds = 30

/** Ends every container and sandbox on the node. The API is not told: the pods come back. */
export async function stopAllPods(runtime: ContainerRuntime, signal: AbortSignal): Promise<void> {
  const containers = await runtime.listContainers(signal)
  await Promise.all(
    containers
      .filter(({ state }) => state === 'CONTAINER_RUNNING')
      .map(({ id }) => ignoreNotFound(runtime.stopContainer(id, stopSeconds, signal))),
  )
  for (const { id, state } of await runtime.listPodSandboxes(signal)) {
    if (state === 'SANDBOX_READY') await ignoreNotFound(runtime.stopPodSandbox(id, signal))
  }
}
