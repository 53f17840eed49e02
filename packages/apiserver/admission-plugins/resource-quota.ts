import {
  addLists,
  compareQuantities,
  formatQuantity,
  isAbove,
  parseQuantity,
  quantityOf,
  subtractQuantities,
  type Pod,
  type ResourceList,
  type ResourceQuota,
} from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { listTyped, typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { isInScopes, missingAmounts, usageOf } from './quota-usage.ts'
import { refuse } from '../admission-matching/refusal.ts'

/**
 * Charges a namespace's quotas for a write before it is written. If the write then fails, the quota
 * controller corrects the charge when it counts again.
 */
export function createResourceQuota({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'ResourceQuota',
    handles: ({ operation, namespace, subresource, object, resource }) =>
      object !== undefined &&
      namespace !== '' &&
      (operation === 'CREATE' || operation === 'UPDATE') &&
      (subresource === '' || (subresource === 'resize' && isResource(resource, wellKnown.pods))),
    async validate(request) {
      const quotas = quotasFor(request, objects)
      const charges = quotas.flatMap((quota) => {
        const charge = chargeOf(request, quota)
        return Object.keys(charge).length === 0 ? [] : [{ quota, charge }]
      })
      for (const { quota, charge } of charges) used(request, quota, charge)
      if (request.isDryRun) return
      for (const { quota, charge } of charges) await take(request, { quota, charge }, objects)
    },
  }
}

function quotasFor(request: AdmissionRequest, objects: Objects): ResourceQuota[] {
  const { namespace, resource, object } = request
  if (!object) return []
  return listTyped<ResourceQuota>(objects, wellKnown.resourceQuotas, namespace).filter((quota) =>
    isInScopes(quota, resource, object),
  )
}

/** Returns the increase of usage under this quota. It is empty if there is none. */
function chargeOf(request: AdmissionRequest, quota: ResourceQuota): ResourceList {
  const { resource, object, oldObject } = request
  if (!object) return {}
  const hard = quota.status?.hard ?? {}
  const next = masked(usageOf(resource, object), hard)
  const isCounted = oldObject !== undefined && isInScopes(quota, resource, oldObject)
  const charge = isCounted ? increase(next, usageOf(resource, oldObject)) : withoutZeros(next)
  if (Object.keys(charge).length === 0) return {}
  if (isResource(resource, wellKnown.pods)) {
    const missing = missingAmounts(typed<Pod>(object), Object.keys(hard))
    if (missing !== '') {
      throw refuse(request, `failed quota: ${quota.metadata.name}: must specify ${missing}`)
    }
  }
  return charge
}

function masked(usage: ResourceList, by: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(usage).filter(([name]) => by[name] !== undefined))
}

function withoutZeros(usage: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(usage).filter(([, amount]) => isAbove(amount, '0')))
}

function increase(next: ResourceList, old: ResourceList): ResourceList {
  const pairs = Object.entries(next).map(([name, amount]) => {
    const more = subtractQuantities(parseQuantity(amount), parseQuantity(old[name] ?? '0'))
    return [name, compareQuantities(more, quantityOf(0)) > 0 ? formatQuantity(more) : '0']
  })
  return withoutZeros(Object.fromEntries(pairs))
}

/** Returns the quota's usage including the charge. Throws if that exceeds the quota. */
function used(
  request: AdmissionRequest,
  { metadata, status }: ResourceQuota,
  charge: ResourceList,
): ResourceList {
  const { hard = {}, used: before = {} } = status ?? {}
  const unknown = Object.keys(charge).filter((name) => before[name] === undefined)
  if (unknown.length > 0) {
    throw refuse(
      request,
      `status unknown for quota: ${metadata.name}, resources: ${unknown.sort().join(',')}`,
    )
  }
  const after = addLists(before, charge)
  const exceeded = Object.keys(charge).filter((name) =>
    isAbove(after[name] ?? '0', hard[name] ?? '0'),
  )
  if (exceeded.length === 0) return after
  const print = (list: ResourceList): string =>
    exceeded
      .toSorted()
      .map((name) => `${name}=${list[name]}`)
      .join(',')
  throw refuse(
    request,
    `exceeded quota: ${metadata.name}, requested: ${print(charge)}, used: ${print(before)}, limited: ${print(hard)}`,
  )
}

async function take(
  request: AdmissionRequest,
  { quota, charge }: { quota: ResourceQuota; charge: ResourceList },
  objects: Objects,
): Promise<void> {
  const { namespace = '', name = '' } = quota.metadata
  const key = { namespace, name, subresource: 'status' }
  await objects.update(wellKnown.resourceQuotas, key, (object) => {
    const current = typed<ResourceQuota>(object)
    // Another write may have used up the rest since.
    current.status = { ...current.status, used: { ...used(request, current, charge) } }
  })
}
