import type { AnyObject, Node } from '@skerry/api'
import {
  fieldAt,
  objectsAt,
  textAt,
  textsAt,
  type GroupSource,
  type VirtualClusterSpec,
} from '@skerry/fleet-kinds'

/** A group as its source reports it. */
export interface SourceGroup {
  readonly name: string
  readonly nodes: Pick<VirtualClusterSpec, 'nodeSelector' | 'nodeNames'>
}

/** A kind of another system whose objects are groups of nodes. It is read in its storage version. */
export interface ForeignSource {
  readonly group: string
  readonly resource: string
  readonly groupOf: (object: AnyObject) => SourceGroup
}

/** The foreign sources, by the field of a set that names them. */
export const foreignSources: Readonly<Record<Exclude<keyof GroupSource, 'label'>, ForeignSource>> =
  Object.freeze({
    nodeGroups: {
      group: 'apps.kubeedge.io',
      resource: 'nodegroups',
      // KubeEdge's controller keeps one group for each node and names it in this label.
      groupOf: (object: AnyObject) => labelled(object, 'apps.kubeedge.io/belonging-to'),
    },
    nodeUnits: { group: 'site.superedge.io', resource: 'nodeunits', groupOf: unitOf },
    nodePools: {
      group: 'apps.openyurt.io',
      resource: 'nodepools',
      groupOf: (object: AnyObject) => labelled(object, 'apps.openyurt.io/nodepool'),
    },
  })

function labelled({ metadata }: AnyObject, key: string): SourceGroup {
  const { name = '' } = metadata
  return { name, nodes: { nodeSelector: { matchLabels: { [key]: name } } } }
}

/** Returns its nodes by name, and those that its labels select; annotations select nothing here. */
function unitOf(object: AnyObject): SourceGroup {
  const named = fieldAt(object, 'spec', 'nodes')
  const nodeNames = Array.isArray(named) ? named.filter((each) => typeof each === 'string') : []
  const matchLabels = textsAt(object, 'spec', 'selector', 'matchLabels')
  const matchExpressions = objectsAt(object, 'spec', 'selector', 'matchExpressions').map((each) => {
    const values = fieldAt(each, 'values')
    return {
      key: textAt(each, 'key'),
      operator: textAt(each, 'operator'),
      values: Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [],
    }
  })
  const isSelecting = Object.keys(matchLabels).length > 0 || matchExpressions.length > 0
  return {
    name: object.metadata.name ?? '',
    nodes: {
      ...(nodeNames.length > 0 ? { nodeNames } : {}),
      ...(isSelecting ? { nodeSelector: { matchLabels, matchExpressions } } : {}),
    },
  }
}

/** A group for each value of the label, by what of it can be a name. */
export function labelGroups(key: string, nodes: readonly Node[]): SourceGroup[] {
  const values = new Set(nodes.map(({ metadata }) => metadata.labels?.[key] ?? ''))
  values.delete('')
  return [...values].toSorted().map((value) => ({
    name: value
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+|-+$/g, ''),
    nodes: { nodeSelector: { matchLabels: { [key]: value } } },
  }))
}
