import {
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  type AllocatedDeviceStatus,
  type DeviceAllocationResult,
  type DeviceRequestAllocationResult,
  type NetworkDeviceData,
  type ResourceClaim,
  type StatusCause,
} from '@skerry/api'
import {
  checkLabelField,
  checkNotEmpty,
  checkRequiredOneOf,
  checkUnchanged,
  isLongerThan,
  isSame,
  type Found,
} from '../checks.ts'
import { checkConditions } from '../conditions.ts'
import { checkCsiDriverName } from '../core/pod-spec-validation/csi-driver-name.ts'
import { checkNodeSelector } from '../core/pod-spec-validation/node-selector.ts'
import { checkInterfaceAddress } from '../ip-text.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkBindingConditions } from './binding-conditions.ts'
import { checkDeviceConfig, checkRawObject } from './device-config.ts'
import { checkDistinct, checkList } from './list-checks.ts'
import { checkPoolName } from './pool-name.ts'
import {
  checkRequestRef,
  checkRequestRefs,
  requestNamesOf,
  type RequestNames,
} from './request-names.ts'
import { checkUuid } from './uuid.ts'
import { configsMax, kindsBounds } from '../../limits-table.ts'

const limits = kindsBounds.claimStatusValidation

/** Schedulers and drivers may write an allocation once, then its users and its state. */
export function validateClaimStatus(
  next: LooseObject<ResourceClaim>,
  old: LooseObject<ResourceClaim>,
): StatusCause[] {
  const found: Found = []
  const { status = {} } = next
  const names = requestNamesOf(next.spec?.devices ?? {})
  checkConsumers(status, found)
  checkDeviceStatuses(status, found)
  checkReservation(next, old, found)
  const { allocation } = status
  if (allocation && old.status?.allocation) {
    checkUnchanged(allocation, old.status.allocation, 'status.allocation', found)
  } else if (allocation) {
    checkAllocation(allocation.devices ?? {}, names, found)
    const selector = allocation.nodeSelector
    if (selector) checkNodeSelector(selector, 'status.allocation.nodeSelector', found)
  }
  return found
}

type Status = NonNullable<LooseObject<ResourceClaim>['status']>

function checkConsumers({ reservedFor = [] }: Status, found: Found): void {
  const limit = { field: 'status.reservedFor', max: limits.reservedFor }
  const isShort = checkList(reservedFor, limit, found, (consumer, field) => {
    for (const name of ['resource', 'name', 'uid'] as const) {
      if (!consumer[name]) found.push(fieldRequired(`${field}.${name}`))
    }
  })
  if (isShort) checkDistinct(reservedFor, limit.field, found, ({ uid }) => uid ?? '')
}

function checkReservation(
  { metadata, status = {} }: LooseObject<ResourceClaim>,
  old: LooseObject<ResourceClaim>,
  found: Found,
): void {
  const { allocation, reservedFor = [] } = status
  const field = 'status.reservedFor'
  if (reservedFor.length === 0) return
  if (!allocation) {
    found.push(fieldForbidden(field, 'may not be specified when `allocated` is not set'))
    return
  }
  if (metadata.deletionTimestamp === undefined) return
  const before = old.status?.reservedFor ?? []
  if (reservedFor.every((consumer) => before.some((known) => isSame(consumer, known)))) return
  const detail =
    'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
  found.push(fieldForbidden(field, detail))
}

interface DeviceKey {
  readonly driver?: string
  readonly pool?: string
  readonly device?: string
  readonly shareID?: string
}

/** Formats a key as in upstream's messages. */
function shownKey({ driver = '', pool = '', device = '', shareID = '' }: DeviceKey): object {
  return { Driver: driver, Pool: pool, Device: device, ShareID: shareID }
}

function checkDeviceStatuses({ allocation, devices = [] }: Status, found: Found): void {
  const path = 'status.devices'
  const results = allocation?.devices?.results ?? []
  const allocated = new Set(results.map((result) => JSON.stringify(shownKey(result))))
  checkList(devices, { field: path, max: Infinity }, found, (device, field) => {
    checkDeviceKey(device, field, found)
    if (device.shareID !== undefined) checkUuid(device.shareID, `${field}.shareID`, found)
    const key = shownKey(device)
    if (!allocated.has(JSON.stringify(key))) {
      found.push(fieldInvalid(field, key, 'must be an allocated device in the claim'))
    }
    checkDeviceState(device, field, found)
  })
  checkDistinct(devices, path, found, shownKey)
}

function checkDeviceKey(
  { driver = '', pool = '', device = '' }: DeviceKey,
  path: string,
  found: Found,
): void {
  checkCsiDriverName(driver, `${path}.driver`, found)
  checkPoolName(pool, `${path}.pool`, found)
  checkLabelField(device, `${path}.device`, found)
}

function checkDeviceState(
  { conditions: all, data, networkData = {} }: Loose<AllocatedDeviceStatus>,
  path: string,
  found: Found,
): void {
  const field = `${path}.conditions`
  const conditions = all ?? []
  if (conditions.length > limits.conditions) {
    found.push(fieldTooMany(field, conditions.length, limits.conditions))
  }
  checkConditions(conditions, field, found)
  if (data !== undefined && data !== null) checkRawObject(data, `${path}.data`, found)
  checkNetworkData(networkData, `${path}.networkData`, found)
}

function checkNetworkData(
  { hardwareAddress = '', interfaceName = '', ips = [] }: Loose<NetworkDeviceData>,
  path: string,
  found: Found,
): void {
  const lengths = [
    ['interfaceName', interfaceName, limits.interfaceBytes],
    ['hardwareAddress', hardwareAddress, limits.hardwareBytes],
  ] as const
  for (const [name, text, bytesMax] of lengths) {
    if (isLongerThan(text, bytesMax)) found.push(fieldTooLong(`${path}.${name}`, bytesMax))
  }
  const limit = { field: `${path}.ips`, max: limits.addresses }
  const isShort = checkList(ips, limit, found, checkInterfaceAddress)
  if (isShort) checkDistinct(ips, limit.field, found, (address) => address)
}

const sources = ['FromClaim', 'FromClass']

function checkAllocation(
  { config = [], results = [] }: Loose<DeviceAllocationResult>,
  names: RequestNames,
  found: Found,
): void {
  const path = 'status.allocation.devices'
  checkList(results, { field: `${path}.results`, max: limits.results }, found, (result, field) =>
    checkResult(result, names, field, found),
  )
  // The list holds the entries of the class and those of the claim.
  const limit = { field: `${path}.config`, max: 2 * configsMax }
  checkList(config, limit, found, (entry, field) => {
    if (checkNotEmpty(entry.source, `${field}.source`, found)) {
      checkRequiredOneOf(entry.source ?? '', sources, `${field}.source`, found)
    }
    checkRequestRefs(entry.requests ?? [], names, `${field}.requests`, found)
    checkDeviceConfig(entry, field, found)
  })
}

function checkResult(
  result: Loose<DeviceRequestAllocationResult>,
  names: RequestNames,
  path: string,
  found: Found,
): void {
  checkRequestRef(result.request ?? '', names, `${path}.request`, found)
  checkDeviceKey(result, path, found)
  checkBindingConditions(result, path, found)
  if (result.shareID !== undefined) checkUuid(result.shareID, `${path}.shareID`, found)
}
