import { join } from 'node:path'
import type { ContainerRuntime, RunningLog } from '@skerry/kubelet'

/** The log files that running containers write now, by the labels they carry. */
export async function runningLogs(
  runtime: ContainerRuntime,
  directory: string,
  signal: AbortSignal,
): Promise<RunningLog[]> {
  const containers = await runtime.listContainers(signal)
  return containers.flatMap((container) => {
    if (container.state !== 'CONTAINER_RUNNING') return []
    const { labels, annotations } = container
    const pod = ['namespace', 'name', 'uid'].map((part) => labels[`io.kubernetes.pod.${part}`])
    const restarts = annotations['io.kubernetes.container.restartCount']
    if (pod.includes(undefined) || restarts === undefined) return []
    return [
      {
        containerId: container.id,
        path: join(directory, pod.join('_'), container.metadata.name, `${restarts}.log`),
      },
    ]
  })
}
