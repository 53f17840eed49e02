import { isJsonObject, type JsonObject } from '@skerry/api'
import {
  anyChildren,
  type AppKind,
  type CommonSpec,
  type StatusView,
} from '../children/app-kind.ts'
import type { WantedChild } from '../children/child.ts'
import { deploymentGrids, statefulSetGrids, type WorkloadGrid } from './grid.ts'
import { readGrid } from './grid-children.ts'
import { resources } from '@skerry/client'

/** A Deployment for each unit. */
export const deploymentGridKind: AppKind<WorkloadGrid> = {
  controller: 'deployment-grid-controller',
  resource: deploymentGrids,
  children: [anyChildren(resources.deployments)],
  nodeKeys: ({ spec }) => [spec?.gridUniqKey ?? ''],
  read: (grid, world) => readGrid(grid, world, { kind: 'Deployment', gridText: 'deployment-grid' }),
  common: commonOfGrid,
  statusOf: (_grid, view) => statesOf(view, deploymentState),
}

/** A StatefulSet for each unit. */
export const statefulSetGridKind: AppKind<WorkloadGrid> = {
  controller: 'statefulset-grid-controller',
  resource: statefulSetGrids,
  children: [anyChildren(resources.statefulSets)],
  nodeKeys: ({ spec }) => [spec?.gridUniqKey ?? ''],
  read: (grid, world) =>
    readGrid(grid, world, { kind: 'StatefulSet', gridText: 'statefulset-grid' }),
  common: commonOfGrid,
  statusOf: (_grid, view) => statesOf(view, (status) => status),
}

function commonOfGrid({ spec = {} }: WorkloadGrid, { group }: WantedChild): CommonSpec {
  const name = spec.templates?.[group] || spec.defaultTemplateName || 'default'
  const why = name === 'default' ? 'the grid' : `the template "${name}" of spec.templatePool`
  return { spec: spec.template, why }
}

function statesOf(
  { children, groupOf }: StatusView,
  stateOf: (status: JsonObject) => JsonObject,
): Record<string, unknown> {
  const states = children
    .map((child) => [groupOf(child) ?? '', stateOf(child.status ?? {})] as const)
    .filter(([unit]) => unit !== '')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return states.length === 0 ? {} : { states: Object.fromEntries(states) }
}

/** SuperEdge shows these three fields, and one condition of several. */
function deploymentState({ replicas, readyReplicas, conditions }: JsonObject): JsonObject {
  const all: readonly unknown[] = Array.isArray(conditions) ? conditions : []
  const available = all.filter((each) => isJsonObject(each) && each['type'] === 'Available')
  return {
    ...(replicas === undefined ? {} : { replicas }),
    ...(readyReplicas === undefined ? {} : { readyReplicas }),
    ...(available.length === 0 ? {} : { conditions: available }),
  }
}
