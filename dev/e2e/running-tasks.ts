import type { TestHost } from '@skerry/testing'

/** Resolves with the ids of the containers that run on a host. */
export async function runningTasks(host: TestHost): Promise<Set<string>> {
  const socket = '/run/skerry/node/containerd/containerd.sock'
  const { stdout } = await host.run(['ctr', '-a', socket, '-n', 'k8s.io', 'tasks', 'list'])
  const rows = stdout.split('\n').map((line) => line.split(/\s+/))
  return new Set(rows.flatMap(([id = '', , state]) => (state === 'RUNNING' ? [id] : [])))
}
