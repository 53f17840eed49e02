/** The places whose endpoints a service may use. */
export interface Topology {
  /** Label keys, the nearest first: an endpoint is near if its node has this node's value of the label. */
  readonly keys: readonly string[]
  /** Whether all endpoints serve if none is near. */
  readonly isOpen: boolean
}

interface TopologyAnnotation {
  readonly annotation: string
  /** Returns undefined for a value that the annotation cannot have. */
  readonly read: (value: string) => Topology | undefined
}

export const hostnameKey = 'kubernetes.io/hostname'
const poolKey = 'apps.openyurt.io/nodepool'

/** The annotations that keep a service's traffic near, by the system that defines them. */
export const topologyAnnotations: readonly TopologyAnnotation[] = [
  // SuperEdge writes it for each ServiceGrid. "*" is from the Kubernetes field of this name (1.17 to 1.21).
  { annotation: 'topologyKeys', read: readKeys },
  // KubeEdge
  {
    annotation: 'apps.kubeedge.io/service-topology',
    read: oneOf({ 'range-nodegroup': ['apps.kubeedge.io/belonging-to'] }),
  },
  // OpenYurt: the traffic of a node without a pool stays on the node.
  {
    annotation: 'openyurt.io/topologyKeys',
    read: oneOf({
      'kubernetes.io/hostname': [hostnameKey],
      'openyurt.io/nodepool': [poolKey, hostnameKey],
      'kubernetes.io/zone': [poolKey, hostnameKey],
    }),
  },
]

function readKeys(value: string): Topology | undefined {
  let keys: unknown
  try {
    keys = JSON.parse(value)
  } catch {
    return undefined
  }
  if (!Array.isArray(keys) || keys.length === 0) return undefined
  const texts = keys.filter((key) => typeof key === 'string')
  if (texts.length < keys.length) return undefined
  return { keys: texts.filter((key) => key !== '*'), isOpen: texts.includes('*') }
}

function oneOf(values: Readonly<Record<string, readonly string[]>>): TopologyAnnotation['read'] {
  return (value) => {
    const keys = Object.hasOwn(values, value) ? values[value] : undefined
    return keys === undefined ? undefined : { keys, isOpen: false }
  }
}
