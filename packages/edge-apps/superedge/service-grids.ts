import { equalJson } from '@skerry/api'
import { resources } from '@skerry/client'
import {
  anyChildren,
  type AppKind,
  type AppReading,
  type StatusView,
} from '../children/app-kind.ts'
import { withApplied, type Child } from '../children/child.ts'
import { groupPolicyOf } from '../children/group-policy.ts'
import { childMetadata, keyProblem } from './grid-children.ts'
import { gridLabels, serviceGrids, type ServiceGrid } from './grid.ts'

/** One Service for all units; an annotation says that its traffic stays in each of them. */
export const serviceGridKind: AppKind<ServiceGrid> = {
  controller: 'service-grid-controller',
  resource: serviceGrids,
  children: [anyChildren(resources.services)],
  nodeKeys: () => [],
  read: readServiceGrid,
  refusedReason: errorOf,
  statusOf: (_grid, view) => statusOf(view),
}

function readServiceGrid(grid: ServiceGrid): AppReading {
  const { gridUniqKey: key = '', groupPolicy, template = {} } = grid.spec ?? {}
  const problem = keyProblem(key, 'service-grid')
  const name = `${grid.metadata.name}-svc`
  // The server gives addresses and ports out; the Service keeps those that it has.
  const manifest: Child = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...childMetadata(grid, name), annotations: annotationsOf(grid, key) },
    spec: { ...template },
  }
  return {
    groups: [],
    ...(problem ? { problem } : {}),
    wanted: problem
      ? []
      : [{ group: '', kind: 'Service', name, manifest: withApplied('', manifest) }],
    policy: groupPolicyOf(groupPolicy),
    asksToBelong: ({ metadata }) => metadata.labels?.[gridLabels.selector] === grid.metadata.name,
    groupOf: () => undefined,
  }
}

/** Its annotations are copied, other than those of workloads, but not what kubectl notes for itself. */
function annotationsOf({ metadata }: ServiceGrid, key: string): Record<string, string> {
  const { 'kubectl.kubernetes.io/last-applied-configuration': _noted, ...own } =
    metadata.annotations ?? {}
  return { ...own, topologyKeys: JSON.stringify([key]) }
}

/** SuperEdge shows the errors alone; here a condition goes when its error does. */
function statusOf({ states, children }: StatusView): Record<string, unknown> {
  const refused = states.filter(({ phase }) => phase === 'Refused')
  const type = errorOf(children.length > 0)
  const conditions = refused.map(({ message = '' }) => ({
    type,
    status: 'True',
    reason: type,
    message,
  }))
  const loadBalancer = children[0]?.status?.['loadBalancer'] ?? {}
  if (conditions.length > 0) return { conditions, loadBalancer }
  return equalJson(loadBalancer, {}) ? {} : { loadBalancer }
}

function errorOf(isThere: boolean): string {
  return isThere ? 'UpdateError' : 'CreateError'
}
