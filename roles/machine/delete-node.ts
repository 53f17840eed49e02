import { isStatusError } from '@skerry/api'
import { ifThere, resources, type ClusterClient } from '@skerry/client'

/**
 * Removes a node from the cluster. With its pods, these are removed at once, whether or not they still run somewhere:
 * this is right only for a machine that will never answer again.
 */
export async function deleteNode(
  cluster: ClusterClient,
  { name, hasPods }: { readonly name: string; readonly hasPods: boolean },
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (hasPods) {
    const pods = cluster.resource(resources.pods)
    const { items } = await pods.list({ fieldSelector: `spec.nodeName=${name}` }, signal)
    for (const { metadata } of items) {
      const { namespace = '', name: pod = '', uid = '' } = metadata
      const key = { namespace, name: pod, gracePeriodSeconds: 0, preconditions: { uid } }
      try {
        await pods.delete(key, signal)
        print(`removed pod ${namespace}/${pod}`)
      } catch (error) {
        // It has gone, or another pod of its name has come elsewhere.
        if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
      }
    }
  }
  const node = await ifThere(cluster.resource(resources.nodes).delete({ name }, signal))
  print(node === undefined ? `the site has no node ${name}` : `removed node ${name}`)
}
