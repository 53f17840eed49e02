import type { AppKind, StatusView } from '../children/app-kind.ts'
import { childKey, keyOfChild, type Child } from '../children/child.ts'
import { manifestKinds } from '../children/manifest-kinds-table.ts'
import { childrenOf, manifestsOf, readApplication } from './application-children.ts'
import { edgeApplications, type EdgeApplication } from './edge-application.ts'
import { edgeGroupWords } from './edge-group.ts'

export const edgeApplicationKind: AppKind<EdgeApplication> = {
  controller: 'edgeapplication-controller',
  resource: edgeApplications,
  children: manifestKinds.map(({ resource }) => resource),
  nodeKeys: ({ spec }) => [
    edgeGroupWords.belongsTo,
    ...(spec?.workloadScope?.targetNodeLabels ?? []).flatMap(({ labelSelector = {} }) => [
      ...Object.keys(labelSelector.matchLabels ?? {}),
      ...(labelSelector.matchExpressions ?? []).map(({ key }) => key),
    ]),
  ],
  read: readApplication,
  common: (app, wanted) => {
    const found = childrenOf(app).find(
      (each) => each.wanted.kind === wanted.kind && each.wanted.name === wanted.name,
    )
    const manifest = found && manifestsOf(app)[found.ordinal]
    return manifest && { spec: manifest['spec'], why: 'the overriders of the target' }
  },
  statusOf: (app, view) => ({ workloadStatus: workloadStatus(app, view) }),
}

/** Returns the state of each manifest, or of each of its children, in KubeEdge's form and order. */
function workloadStatus(app: EdgeApplication, { children }: StatusView): object[] {
  const present = new Map(children.map((child) => [keyOfChild(child), child]))
  const states = childrenOf(app).map(({ ordinal, apiVersion, wanted: { kind, name } }) => {
    if (name === '') return { identifier: { ordinal }, conditions: 'Processing' }
    const [version = '', group] = apiVersion.split('/').toReversed()
    const { namespace } = app.metadata
    const child = present.get(childKey(kind, name))
    return {
      identifier: { ordinal, ...(group ? { group } : {}), version, kind, namespace, name },
      conditions: child && isAvailable(child) ? 'Available' : 'Processing',
    }
  })
  const told = new Set(states.map(({ identifier }) => identifier.ordinal))
  const others = [...manifestsOf(app).keys()]
    .filter((ordinal) => !told.has(ordinal))
    .map((ordinal) => ({ identifier: { ordinal }, conditions: 'Processing' }))
  return [...states, ...others].toSorted((a, b) => byPlace(a.identifier, b.identifier))
}

interface Identifier {
  readonly ordinal: number
  readonly name?: string
}

/** Children of one manifest are in the order of their names. */
function byPlace(a: Identifier, b: Identifier): number {
  if (a.ordinal !== b.ordinal) return a.ordinal - b.ordinal
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1
}

/** A workload is available if all of its pods are ready; other objects are if they are there. */
function isAvailable({ kind, spec = {}, status = {} }: Child): boolean {
  if (kind === 'DaemonSet') {
    return numberOf(status['numberReady']) >= numberOf(status['desiredNumberScheduled'])
  }
  if (kind !== 'Deployment' && kind !== 'StatefulSet') return true
  const replicas = spec['replicas'] === undefined ? 1 : numberOf(spec['replicas'])
  return numberOf(status['readyReplicas']) === replicas
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
