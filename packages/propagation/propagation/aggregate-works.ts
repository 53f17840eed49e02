import type { AnyObject } from '@skerry/api'
import {
  manifestsOf,
  workConditions,
  type AggregatedStatusItem,
  type BindingSpec,
  type BoundObject,
  type ManifestIdentifier,
  type Work,
} from '@skerry/karmada-kinds'
import { conditionOf, type ConditionText } from '@skerry/fleet-kinds'
import { keepingClusters } from './binding-targets.ts'
import { clusterOfWork } from './write-work.ts'

/** Returns the status of an object in each cluster that has a Work of it, by the clusters' names. Pure. */
export function aggregatedItems(
  works: readonly Work[],
  resource: BoundObject,
): AggregatedStatusItem[] {
  return works
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((work) => itemOf(work, resource))
    .toSorted((a, b) => (a.clusterName < b.clusterName ? -1 : 1))
}

/** Reports whether each target cluster has the object. */
export function fullyApplied(
  spec: BindingSpec,
  items: readonly AggregatedStatusItem[],
): ConditionText {
  const clusters = keepingClusters(spec)
  const isApplied =
    clusters.size > 0 &&
    clusters.size === items.length &&
    items.every(({ applied, clusterName }) => applied === true && clusters.has(clusterName))
  return isApplied
    ? {
        type: 'FullyApplied',
        status: 'True',
        reason: 'FullyAppliedSuccess',
        message: 'All works have been successfully applied',
      }
    : {
        type: 'FullyApplied',
        status: 'False',
        reason: 'FullyAppliedFailed',
        message: 'Failed to apply all works, see status.aggregatedStatus for details',
      }
}

function itemOf(work: Work, resource: BoundObject): AggregatedStatusItem {
  const clusterName = clusterOfWork(work)
  const condition = conditionOf(work.status?.conditions, workConditions.applied)
  if (condition?.status !== 'True') {
    const message = condition?.message ?? ''
    return {
      clusterName,
      // The API server leaves a false out, too: what is read again is what was written.
      ...(message ? { appliedMessage: message } : {}),
      health: 'Unknown',
    }
  }
  const ordinal = manifestsOf(work).findIndex((manifest) => isOf(manifest, resource))
  const told = work.status?.manifestStatuses?.find(({ identifier }) =>
    isAbout(identifier, ordinal, resource),
  )
  return {
    clusterName,
    applied: true,
    ...(told?.status ? { status: told.status } : {}),
    health: told?.health ?? 'Unknown',
  }
}

function isOf({ apiVersion, kind, metadata }: AnyObject, resource: BoundObject): boolean {
  return (
    apiVersion === resource.apiVersion &&
    kind === resource.kind &&
    (metadata.namespace ?? '') === (resource.namespace ?? '') &&
    metadata.name === resource.name
  )
}

function isAbout(
  { ordinal, group = '', version, kind, namespace = '', name }: ManifestIdentifier,
  wanted: number,
  resource: BoundObject,
): boolean {
  return (
    ordinal === wanted &&
    (group === '' ? version : `${group}/${version}`) === resource.apiVersion &&
    kind === resource.kind &&
    namespace === (resource.namespace ?? '') &&
    name === resource.name
  )
}
