import type { ClusterOnHosts, EdgeNode } from '../../e2e/cluster-on-hosts.ts'
import { whoAnswers } from '../../e2e/who-answers.ts'

/** A cluster whose nodes stand in two places. */
export interface Places {
  readonly cluster: ClusterOnHosts
  readonly first: readonly EdgeNode[]
  readonly second: readonly EdgeNode[]
}

export async function labelNodes(
  { cluster }: Places,
  nodes: readonly EdgeNode[],
  label: string,
): Promise<void> {
  await cluster.kubectl('label', '--overwrite', 'nodes', ...nodes.map(({ name }) => name), label)
}

/** Waits until a workload of this name has all of its pods. */
export async function untilRolledOut({ cluster }: Places, name: string): Promise<void> {
  await cluster.waitFor(`${name} to be rolled out`, async () => {
    const { exitCode } = await cluster.tryKubectl(['rollout', 'status', name, '--timeout=60s'])
    return exitCode === 0 ? true : undefined
  })
}

/** Waits until a service leads every node of each place to pods on nodes of the same place alone. */
export async function untilClosed(places: Places, service: string): Promise<void> {
  const { cluster } = places
  const name = `${service}.default.svc.cluster.local`
  for (const nodes of [places.first, places.second]) {
    for (const { host } of nodes) {
      await cluster.waitFor(`${service} to stay in the place of ${host.name}`, async () => {
        const pods = await podsOn(places, nodes)
        const answers = await whoAnswers(host, name)
        const isClosed = answers.length > 0 && answers.every((answer) => pods.has(answer))
        return isClosed ? true : undefined
      })
    }
  }
}

async function podsOn({ cluster }: Places, nodes: readonly EdgeNode[]): Promise<Set<string>> {
  const names = new Set(nodes.map(({ name }) => name))
  const path = 'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName}{"\\n"}{end}'
  const lines = (await cluster.kubectl('get', 'pods', '-o', path)).trim().split('\n')
  const pairs = lines.map((line) => line.split(' '))
  return new Set(pairs.filter(([, node = '']) => names.has(node)).map(([pod = '']) => pod))
}
