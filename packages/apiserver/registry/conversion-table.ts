import {
  autoscalerFromVersion2,
  autoscalerToVersion2,
  claimFromV1,
  claimTemplateFromV1,
  claimTemplateToV1,
  claimToV1,
  sliceFromV1,
  sliceToV1,
} from '@skerry/kinds'
import { isJsonObject, type AnyObject, type JsonObject, type Kind } from '@skerry/api'

/** Converts between a served version and the stored one, in place. The caller sets apiVersion. */
export interface Conversion {
  readonly toStorage: (object: AnyObject) => void
  readonly fromStorage: (object: AnyObject) => void
}

/** The events.k8s.io group's names for the core group's fields. */
const eventNames: readonly (readonly [events: string, core: string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
]

/** The core group always writes these fields. */
const reporterNames = ['reportingComponent', 'reportingInstance']

/** Keyed `apiVersion/Kind`. Versions that differ only in apiVersion need no entry. */
export const conversions: Readonly<Record<string, Conversion>> = Object.freeze({
  'events.k8s.io/v1/Event': {
    toStorage(event) {
      rename(event, eventNames, 'toCore')
      for (const name of reporterNames) event[name] ??= ''
    },
    fromStorage(event) {
      for (const name of reporterNames) if (event[name] === '') delete event[name]
      rename(event, eventNames, 'fromCore')
    },
  },
  'autoscaling/v1/HorizontalPodAutoscaler': {
    toStorage: autoscalerToVersion2,
    fromStorage: autoscalerFromVersion2,
  },
  'resource.k8s.io/v1beta1/ResourceClaim': { toStorage: claimToV1, fromStorage: claimFromV1 },
  'resource.k8s.io/v1beta1/ResourceClaimTemplate': {
    toStorage: claimTemplateToV1,
    fromStorage: claimTemplateFromV1,
  },
  'resource.k8s.io/v1beta1/ResourceSlice': { toStorage: sliceToV1, fromStorage: sliceFromV1 },
})

/** Returns a copy in another version of one built-in kind. */
export function converted(object: Readonly<JsonObject>, from: Kind, to: Kind): JsonObject {
  const { metadata } = object
  const copy: AnyObject = {
    ...structuredClone(object),
    apiVersion: versionOf(from),
    kind: from.kind,
    metadata: isJsonObject(metadata) ? structuredClone(metadata) : {},
  }
  conversions[`${versionOf(from)}/${from.kind}`]?.toStorage(copy)
  conversions[`${versionOf(to)}/${to.kind}`]?.fromStorage(copy)
  return { ...copy, apiVersion: versionOf(to) }
}

function versionOf({ group, version }: Kind): string {
  return group === '' ? version : `${group}/${version}`
}

function rename(
  object: JsonObject,
  names: readonly (readonly [string, string])[],
  direction: 'toCore' | 'fromCore',
): void {
  for (const [events, core] of names) {
    const [from, to] = direction === 'toCore' ? [events, core] : [core, events]
    const value = object[from]
    delete object[from]
    if (value !== undefined) object[to] = value
  }
}
