import type { Container, Node, NodeCondition, ObjectMeta, Pod } from '@skerry/api'
import { groupLabel } from '@skerry/fleet-kinds'
import { clusterAgentBounds } from '../limits-table.ts'

/** Reduces pods and nodes to the fields that summaries and groups read, because there may be many thousands. */
export interface Slimmer {
  readonly pod: (pod: Pod) => Pod
  readonly node: (node: Node) => Node
}

const { sharedMax } = clusterAgentBounds.slimObjects

/**
 * Creates a slimmer that keeps common parts once: the pods of a Deployment have equal requests, nodes of one
 * type have equal sizes, and a node has many pods.
 */
export function createSlimmer(): Slimmer {
  const text = createShared<string>((each) => each)
  const containers = createShared<Container[]>(JSON.stringify)
  const quantities = createShared<Record<string, string>>(JSON.stringify)
  const phases = createShared<{ phase?: string }>(JSON.stringify)
  const conditions = createShared<NodeCondition[]>(JSON.stringify)
  // Builds the spec in one object literal in nearly all cases, as for metadata.
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
        // It keeps the labels, by which groups select nodes.
        metadata: { ...identityOf(metadata), labels: metadata.labels ?? {} },
        status: {
          ...(allocatable ? { allocatable: quantities(allocatable) } : {}),
          conditions: conditions(ready.map(({ type, status: state }) => ({ type, status: state }))),
        },
      }
    },
  }
}

/** Returns a function that replaces equal parts with one object, by a key that describes them completely. */
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

/** Returns the fields that identify an object and distinguish it from a later one of its name. */
function identityOf({ name, uid, resourceVersion, deletionTimestamp }: ObjectMeta): Identity {
  return {
    ...(name ? { name } : {}),
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(deletionTimestamp ? { deletionTimestamp } : {}),
  }
}

/**
 * Builds a complete identity in one object literal, as nearly all pods have it: merging parts costs twice as
 * much.
 */
function podIdentity(metadata: ObjectMeta, namespace: string): Identity & { namespace: string } {
  const { name, uid, resourceVersion, deletionTimestamp } = metadata
  if (name && uid && resourceVersion && !deletionTimestamp) {
    return { name, namespace, uid, resourceVersion }
  }
  return { ...identityOf(metadata), namespace }
}
