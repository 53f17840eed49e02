import { equalJson, type AnyObject } from '@skerry/api'
import type { Change } from '@skerry/client'

/** The domain of labels and annotations that controllers of the fleet write. */
const fleetDomain = '.karmada.io/'
/** This label has the fleet's domain, but users set it. */
const skipNamespaceLabel = 'namespace.karmada.io/skip-auto-propagation'

/** Reports whether anything but the status has changed. */
export function isOfSpecification(change: Change<AnyObject>): boolean {
  if (change.type !== 'updated') return true
  return !equalJson(wantedOf(change.object), wantedOf(change.old))
}

/** Reports whether anybody but the fleet's controllers has changed the object. */
export function isOfUser(change: Change<AnyObject>): boolean {
  if (change.type !== 'updated') return true
  return !equalJson(userPartOf(change.object), userPartOf(change.old))
}

function wantedOf({ status: _status, ...object }: AnyObject): unknown {
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = object.metadata
  return { ...object, metadata }
}

function userPartOf({ status: _status, ...object }: AnyObject): unknown {
  const {
    resourceVersion: _version,
    managedFields: _fields,
    generation: _generation,
    labels,
    annotations,
    ...metadata
  } = object.metadata
  return {
    ...object,
    metadata: { ...metadata, labels: userKeys(labels), annotations: userKeys(annotations) },
  }
}

function userKeys(map: Readonly<Record<string, string>> = {}): Record<string, string> {
  const entries = Object.entries(map)
  return Object.fromEntries(
    entries.filter(([key]) => key === skipNamespaceLabel || !key.includes(fleetDomain)),
  )
}
