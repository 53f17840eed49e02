import type { ClusterOnHosts } from './cluster-on-hosts.ts'

interface Question {
  /** The arguments of kubectl that name the object. */
  readonly args: readonly string[]
  /** JSONPath. */
  readonly path: string
  readonly says: string
}

/** Waits until an object on the hub is as expected. */
export async function untilHubSays(
  cluster: ClusterOnHosts,
  kubectl: (args: readonly string[]) => Promise<string>,
  { args, path, says }: Question,
): Promise<void> {
  let said = ''
  await cluster.waitFor(`${args.join(' ')} to say ${JSON.stringify(says)}`, async () => {
    said = await kubectl([...args, '-o', `jsonpath=${path}`])
    if (said === says) return true
    throw new Error(`it says ${JSON.stringify(said)}`)
  })
}
