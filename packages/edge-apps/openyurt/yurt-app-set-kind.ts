import { equalJson } from '@skerry/api'
import { resources } from '@skerry/client'
import { anyChildren, type AppKind, type StatusView } from '../children/app-kind.ts'
import type { Child } from '../children/child.ts'
import { secondsText } from '../children/child-plan.ts'
import { poolOf, readAppSet } from './app-set-children.ts'
import { revisionsOf } from './app-set-revisions.ts'
import { inNewerFields } from './older-app-set.ts'
import { joins, nodePools } from './node-pool.ts'
import { appSetWords, yurtAppSets, type AppSetCondition, type YurtAppSet } from './yurt-app-set.ts'

export const yurtAppSetKind: AppKind<YurtAppSet> = {
  controller: 'yurtappset-controller',
  resource: yurtAppSets,
  children: [
    anyChildren(resources.deployments),
    anyChildren(resources.statefulSets),
    anyChildren(resources.controllerRevisions),
  ],
  nodeKeys: () => [joins],
  sources: [nodePools],
  read: (app, world) => readAppSet(inNewerFields(app), world),
  common: (app, { kind }) => {
    const { spec } = inNewerFields(app)
    const { deploymentTemplate, statefulSetTemplate } = spec?.workload?.workloadTemplate ?? {}
    const template = kind === 'StatefulSet' ? statefulSetTemplate : deploymentTemplate
    return template && { spec: template.spec, why: 'spec.workload.workloadTweaks' }
  },
  statusOf: (app, view) => statusOf(inNewerFields(app), view),
}

function statusOf(app: YurtAppSet, view: StatusView): Record<string, unknown> {
  const workloads = view.children.filter(({ kind }) => kind !== 'ControllerRevision')
  const currentRevision = revisionsOf(app, view.children).current
  const ready = workloads.filter(isReady)
  const updated = workloads.filter(
    ({ metadata, status = {} }) =>
      metadata.labels?.[appSetWords.revision] === currentRevision &&
      areEqual(status['updatedReplicas'], status['replicas']),
  )
  const conditions = [
    poolFound(view),
    ...dispatched(app, view),
    ...deletions(app, view),
    ...updates(app, view, { workloads, currentRevision }),
    readiness(workloads.length, ready.length),
  ]
  return {
    collisionCount: 0,
    currentRevision,
    conditions: changedLast(
      conditions.map((each) => timed(each, app, view)),
      app,
    ),
    readyWorkloads: ready.length,
    updatedWorkloads: updated.length,
    totalWorkloads: workloads.length,
  }
}

/** A workload that has no pods yet is not ready. */
function isReady({ spec = {}, status = {} }: Child): boolean {
  const replicas = status['replicas'] ?? 0
  return replicas === 0 ? spec['replicas'] === 0 : status['readyReplicas'] === replicas
}

/** Servers leave a number out that is 0. */
function areEqual(a: unknown, b: unknown): boolean {
  return (a ?? 0) === (b ?? 0)
}

/** Returns the names of all groups that have not vanished, with or without nodes. */
function chosen({ states }: StatusView): string[] {
  return states
    .filter(({ name, phase }) => name !== '' && phase !== 'Vanished')
    .map(({ name }) => name)
}

function poolFound(view: StatusView): AppSetCondition {
  const pools = chosen(view)
  if (pools.length === 0) {
    const message = 'There are no matched nodepools for YurtAppSet'
    return { type: 'PoolFound', status: 'False', reason: 'NoFindPools', message }
  }
  const message = `There are ${pools.length} matched nodepools: [${pools.join(' ')}]`
  return { type: 'PoolFound', status: 'True', reason: 'FindPools', message }
}

function dispatched({ status }: YurtAppSet, view: StatusView): AppSetCondition[] {
  const type = 'AppDispatched'
  const pools = chosen(view)
  if (pools.length === 0) return status?.conditions?.filter((each) => each.type === type) ?? []
  const present = new Set(view.children.map(poolOf))
  const missing = view.states.find(
    ({ name, phase }) => phase === 'Refused' && pools.includes(name) && !present.has(name),
  )
  if (!missing) {
    return [{ type, status: 'True', message: 'All expected workloads are created successfully' }]
  }
  const message = `${missing.name}: ${missing.message ?? ''}`
  return [{ type, status: 'False', reason: 'CreateWorkloadError', message }]
}

/** OpenYurt shows it with the first workload that it deletes. */
function deletions({ status }: YurtAppSet, { states }: StatusView): AppSetCondition[] {
  const type = 'AppDeleted'
  const isKnown = status?.conditions?.some((each) => each.type === type) === true
  // The states of an application that cannot be read name no group.
  const isRead = !states.some(({ name, phase }) => name === '' && phase === 'Refused')
  const names = new Set(states.map(({ name }) => name))
  const isGone = status?.groups?.some(({ name, phase }) => phase !== 'Refused' && !names.has(name))
  if (!isKnown && !(isRead && isGone)) return []
  return [{ type, status: 'True', message: 'Unexpected workloads are deleted successfully' }]
}

/** OpenYurt shows it with the first change of the workload. */
function updates(
  { status }: YurtAppSet,
  { states }: StatusView,
  { workloads, currentRevision }: { workloads: readonly Child[]; currentRevision: string },
): AppSetCondition[] {
  const type = 'AppUpdated'
  const refused = states.find(
    ({ child, phase }) =>
      phase === 'Refused' && workloads.some(({ metadata }) => metadata.name === child),
  )
  if (refused) {
    const message = `${refused.name}: ${refused.message ?? ''}`
    return [{ type, status: 'False', reason: 'UpdateWorkloadError', message }]
  }
  const old = workloads.filter(
    ({ metadata }) => metadata.labels?.[appSetWords.revision] !== currentRevision,
  )
  const isKnown = status?.conditions?.some((each) => each.type === type) === true
  const isUpdated = states.some(({ name, reason }) => name !== '' && reason === 'Updated')
  if (!isKnown && !isUpdated && old.length === 0) return []
  if (old.length === 0) {
    return [{ type, status: 'True', message: 'All expected workloads are updated successfully' }]
  }
  const message = `${old.length} of ${workloads.length} workloads have an older revision`
  return [{ type, status: 'False', reason: 'WorkloadsWaiting', message }]
}

function readiness(total: number, ready: number): AppSetCondition {
  const type = 'AppReady'
  if (total === 0) return { type, status: 'False', reason: 'NoWorkloadFound' }
  if (total === ready) return { type, status: 'True', reason: 'AllWorkloadsReady' }
  return { type, status: 'False', reason: 'NotAllWorkloadsReady' }
}

/** A condition keeps its time until its status changes. */
function timed(
  condition: AppSetCondition,
  { status }: YurtAppSet,
  { nowMs }: StatusView,
): AppSetCondition {
  const known = status?.conditions?.find(({ type }) => type === condition.type)
  const isSame = known?.status === condition.status && known.lastTransitionTime !== undefined
  const lastTransitionTime = isSame ? known.lastTransitionTime : secondsText(nowMs)
  return { ...condition, ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }) }
}

/** Puts conditions that have changed after the others, as OpenYurt does. */
function changedLast(
  conditions: readonly AppSetCondition[],
  { status }: YurtAppSet,
): AppSetCondition[] {
  const kept = (status?.conditions ?? []).flatMap((known) =>
    conditions.filter((each) => equalJson(each, known)),
  )
  return [...kept, ...conditions.filter((each) => !kept.includes(each))]
}
