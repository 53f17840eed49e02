import { StatusError, type Pod } from '@skerry/api'
import type { Objects } from '../../contract/objects.ts'
import { notFound } from '../../contract/status-answers.ts'
import { getTyped } from '../../contract/typed-objects.ts'
import { wellKnown } from '../../contract/well-known-resources.ts'

export function findPod(objects: Objects, key: { namespace: string; name: string }): Pod {
  const pod = getTyped<Pod>(objects, wellKnown.pods, key)
  if (!pod) throw notFound(wellKnown.pods, key.name)
  return pod
}

/** Returns the chosen container, or throws in upstream's words if it does not exist. */
export function chooseContainer(pod: Pod, asked: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {}
  const all = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name)
  const podName = pod.metadata.name ?? ''
  if (asked !== '') {
    if (all.includes(asked)) return asked
    throw new StatusError('BadRequest', `container ${asked} is not valid for pod ${podName}`)
  }
  const [only] = containers
  if (containers.length === 1 && only) return only.name
  const choice = containers.length === 0 ? '' : `, choose one of: [${all.join(' ')}]`
  throw new StatusError(
    'BadRequest',
    `a container name must be specified for pod ${podName}${choice}`,
  )
}

/** Returns the node that runs the pod. Refuses a pod without one. */
export function nodeOf(pod: Pod): string {
  const nodeName = pod.spec?.nodeName
  if (nodeName) return nodeName
  throw new StatusError('BadRequest', `pod ${pod.metadata.name} does not have a host assigned`)
}
