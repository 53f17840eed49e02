import type { AnyObject, JsonObject } from '@skerry/api'
import type { AggregatedStatusItem } from '@skerry/karmada-kinds'
import type { InterpreterOperation } from '@skerry/interpreter'
import { nativeObjects, rollouts, statusesOf } from './native-objects.ts'

/** One question about an object, as an agent or the propagation asks it. */
export interface InterpreterCase {
  readonly name: string
  readonly operation: InterpreterOperation
  readonly object: AnyObject
  /** The cluster's object; for Retain only. */
  readonly observed?: AnyObject
  /** The replicas; for ReviseReplica only. */
  readonly replicas?: number
  /** The statuses; for AggregateStatus only. */
  readonly items?: readonly AggregatedStatusItem[]
}

const ofOneObject = [
  'InterpretReplica',
  'InterpretStatus',
  'InterpretHealth',
  'InterpretDependency',
  'Prune',
] as const

const ofOneStatus = ['InterpretStatus', 'InterpretHealth'] as const

/**
 * Every operation on every native kind, for each of its statuses, and with several combinations of each
 * kind's statuses.
 */
export const interpreterCases: readonly InterpreterCase[] = nativeObjects.flatMap((object) => {
  const named = (operation: InterpreterOperation, more: Partial<InterpreterCase>, what = '') => ({
    name: `${operation} ${object.kind}${what}`,
    operation,
    object,
    ...more,
  })
  return [
    ...ofOneObject.map((operation) => named(operation, {})),
    ...statusesOf(object).flatMap((status, at) =>
      ofOneStatus.map((operation) =>
        named(operation, { object: withStatus(object, status) }, `: status ${at}`),
      ),
    ),
    ...rollouts.map(({ what, status }) =>
      named('InterpretHealth', { object: withStatus(object, status) }, `: ${what}`),
    ),
    named('ReviseReplica', { replicas: 7 }),
    named('Retain', { object: wanted(object), observed: object }),
    ...aggregations(object).map(({ what, template, items }) =>
      named('AggregateStatus', { object: template, items }, `: ${what}`),
    ),
  ]
})

/** Returns the object as on the hub, without a cluster's own fields. */
function wanted(object: AnyObject): AnyObject {
  const { status: _status, ...rest } = object
  const { name, namespace, labels } = object.metadata
  const metadata = {
    name,
    ...(namespace ? { namespace } : {}),
    labels: { ...labels, 'resourcetemplate.karmada.io/retain-replicas': 'true' },
  }
  // The top-level fields stay.
  return { ...rest, metadata } as AnyObject
}

interface Aggregation {
  readonly what: string
  readonly template: AnyObject
  readonly items: readonly AggregatedStatusItem[]
}

function aggregations(object: AnyObject): Aggregation[] {
  const statuses = statusesOf(object)
  const bare = withStatus(object, undefined)
  const items = (list: readonly (JsonObject | undefined)[]): AggregatedStatusItem[] =>
    list.map((status, at) => ({ clusterName: `c${at}`, ...(status ? { status } : {}) }))
  return [
    { what: 'all', template: bare, items: items(statuses) },
    { what: 'the other way round', template: bare, items: items(statuses.toReversed()) },
    ...statuses.map((status, at) => ({
      what: `status ${at} twice`,
      template: bare,
      items: items([status, status]),
    })),
    { what: 'one has told nothing', template: bare, items: items([statuses[0], undefined]) },
    { what: 'over an old one', template: object, items: items(statuses.slice(0, 1)) },
    { what: 'nobody', template: bare, items: [] },
  ]
}

function withStatus(object: AnyObject, status: JsonObject | undefined): AnyObject {
  const { status: _status, ...rest } = object
  // The top-level fields stay.
  return { ...rest, ...(status ? { status } : {}) } as AnyObject
}
