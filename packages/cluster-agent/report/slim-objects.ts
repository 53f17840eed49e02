import type { Container, Node, NodeCondition, ObjectMeta, Pod } from '@skerry/api'
import { groupLabel } from '@skerry/fleet-kinds'

/** All that summaries and groups read of pods and nodes: the rest of many thousands need not be kept. */
export interface Slimmer {
  readonly pod: (pod: Pod) => Pod
  readonly node: (node: Node) => Node
}

/** Of each sort; beyond it what was met is forgotten, and what comes from then on is kept anew. */
const sharedMax = 10_000

/**
 * What many have in common is kept once: the containers of a Deployment's pods ask the same, nodes of one sort are as
 * large, a node has many pods.
 */
export function createSlimmer(): Slimmer {
  const text = createShared<string>((each) => each)
  const containers = createShared<Container[]>(JSON.stringify)
  const quantities = createShared<Record<string, string>>(JSON.stringify)
  const phases = createShared<{ phase?: string }>(JSON.stringify)
  const conditions = createShared<NodeCondition[]>(JSON.stringify)
  // As metadata: in one piece for nearly all.
  const specOf = (spec: Pod['spec']): NonNullable<Pod['spec']> => {
    const group = spec?.nodeSelector?.[groupLabel]
    const own = containers((spec?.containers ?? []).map(slimContainer))
    const initContainers = containers((spec?.initContainers ?? []).map(slimContainer))
    if (spec?.nodeName && !group && !spec.overhead) {
      return { containers: own, initContainers, nodeName: text(spec.nodeName) }
    }
    return {
      containers: own,
      initContainers,
      ...(spec?.nodeName ? { nodeName: text(spec.nodeName) } : {}),
      ...(group ? { nodeSelector: quantities({ [groupLabel]: group }) } : {}),
      ...(spec?.overhead ? { overhead: quantities(spec.overhead) } : {}),
    }
  }
  return {
    pod({ apiVersion, kind, metadata, spec, status }) {
      return {
        apiVersion,
        kind,
        metadata: podIdentity(metadata, text(metadata.namespace ?? '')),
        spec: specOf(spec),
        status: phases(status?.phase ? { phase: status.phase } : {}),
      }
    },
    node({ apiVersion, kind, metadata, status }) {
      const { allocatable } = status ?? {}
      const ready = (status?.conditions ?? []).filter(({ type }) => type === 'Ready')
      return {
        apiVersion,
        kind,
        // With its labels, by which groups select it.
        metadata: { ...identityOf(metadata), labels: metadata.labels ?? {} },
        status: {
          ...(allocatable ? { allocatable: quantities(allocatable) } : {}),
          conditions: conditions(ready.map(({ type, status: state }) => ({ type, status: state }))),
        },
      }
    },
  }
}

/** Equal ones are one from then on, by the key that says all of them. */
function createShared<T>(keyOf: (part: T) => string): (part: T) => T {
  const known = new Map<string, T>()
  return (part) => {
    const key = keyOf(part)
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= sharedMax) known.clear()
    known.set(key, part)
    return part
  }
}

function slimContainer({ name, resources: asked, restartPolicy }: Container): Container {
  return {
    name,
    ...(asked ? { resources: asked } : {}),
    ...(restartPolicy ? { restartPolicy } : {}),
  }
}

type Identity = Pick<ObjectMeta, 'name' | 'uid' | 'resourceVersion' | 'deletionTimestamp'>

/** By which an object is known, and told from a later one of its name. */
function identityOf({ name, uid, resourceVersion, deletionTimestamp }: ObjectMeta): Identity {
  return {
    ...(name ? { name } : {}),
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(deletionTimestamp ? { deletionTimestamp } : {}),
  }
}

/** Made in one piece where it is whole, as those of nearly all pods: put together of parts it takes twice as much. */
function podIdentity(metadata: ObjectMeta, namespace: string): Identity & { namespace: string } {
  const { name, uid, resourceVersion, deletionTimestamp } = metadata
  if (name && uid && resourceVersion && !deletionTimestamp) {
    return { name, namespace, uid, resourceVersion }
  }
  return { ...identityOf(metadata), namespace }
}
