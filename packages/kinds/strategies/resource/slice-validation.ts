import {
  fieldInvalid,
  fieldRequired,
  type Device,
  type ResourceSlice,
  type ResourceSliceSpec,
  type StatusCause,
} from '@skerry/api'
import { checkUnchanged, type Found } from '../checks.ts'
import { checkCsiDriverName } from '../core/pod-spec-validation/csi-driver-name.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkBindingConditions } from './binding-conditions.ts'
import { checkCounterSets } from './counter-validation.ts'
import { checkDevice, checkDeviceNodes } from './device-validation.ts'
import { checkDistinct, checkList } from './list-checks.ts'
import { addMustBeTrue, checkNodeChoice } from './node-choice.ts'
import { checkPoolName } from './pool-name.ts'
import { kindsBounds } from '../../limits-table.ts'

const { devicesMax, richDevicesMax } = kindsBounds.sliceValidation

export function validateResourceSlice(slice: LooseObject<ResourceSlice>): StatusCause[] {
  const found: Found = []
  checkSlice(slice.spec ?? {}, undefined, found)
  return found
}

export function validateResourceSliceUpdate(
  next: LooseObject<ResourceSlice>,
  old: LooseObject<ResourceSlice>,
): StatusCause[] {
  const found: Found = []
  checkSlice(next.spec ?? {}, old.spec ?? {}, found)
  return found
}

function checkSlice(
  spec: Loose<ResourceSliceSpec>,
  old: Loose<ResourceSliceSpec> | undefined,
  found: Found,
): void {
  const { devices = [], driver = '', sharedCounters } = spec
  checkCsiDriverName(driver, 'spec.driver', found)
  checkPool(spec.pool ?? {}, 'spec.pool', found)
  if (old) {
    checkUnchanged(spec.pool?.name, old.pool?.name, 'spec.pool.name', found)
    checkUnchanged(driver, old.driver, 'spec.driver', found)
    checkUnchanged(spec.nodeName, old.nodeName, 'spec.nodeName', found)
  }
  checkSliceNodes(spec, found)
  if (sharedCounters && spec.devices) {
    found.push(fieldInvalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed'))
  }
  const max = devices.some(isRich) ? richDevicesMax : devicesMax
  const path = 'spec.devices'
  const isPerDevice = spec.perDeviceNodeSelection === true
  const isShort = checkList(devices, { field: path, max }, found, (device, field) => {
    checkDevice(device, field, found)
    checkDeviceNodes(device, { field, isPerDevice }, found)
    checkBindingConditions(device, field, found)
  })
  if (isShort) checkDistinct(devices, path, found, ({ name }) => name ?? '')
  checkCounterSets(sharedCounters ?? [], 'spec.sharedCounters', found)
}

function isRich({ attributes = {}, consumesCounters = [], taints = [] }: Loose<Device>): boolean {
  const hasList = Object.values(attributes).some(
    ({ bools, ints, strings, versions }) => bools ?? ints ?? strings ?? versions,
  )
  return hasList || taints.length > 0 || consumesCounters.length > 0
}

function checkPool(pool: Loose<ResourceSliceSpec['pool']>, path: string, found: Found): void {
  const { generation = 0, name = '', resourceSliceCount: count = 0 } = pool
  checkPoolName(name, `${path}.name`, found)
  if (count <= 0) {
    found.push(fieldInvalid(`${path}.resourceSliceCount`, count, 'must be greater than zero'))
  }
  if (generation < 0) {
    const detail = 'must be greater than or equal to zero'
    found.push(fieldInvalid(`${path}.generation`, generation, detail))
  }
}

function checkSliceNodes(spec: Loose<ResourceSliceSpec>, found: Found): void {
  const emptyName = 'must be either unset or set to a non-empty string'
  const chosen = checkNodeChoice(spec, { path: 'spec', emptyName }, found)
  const terms = spec.nodeSelector?.nodeSelectorTerms ?? []
  if (spec.nodeSelector && terms.length !== 1) {
    const detail = 'must have exactly one node selector term'
    found.push(fieldInvalid('spec.nodeSelector.nodeSelectorTerms', terms, detail))
  }
  if (spec.perDeviceNodeSelection) chosen.push('`perDeviceNodeSelection`')
  else if (spec.perDeviceNodeSelection === false)
    addMustBeTrue('spec.perDeviceNodeSelection', found)
  const all = '`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`'
  const detail = `exactly one of ${all} is required`
  if (chosen.length === 0) found.push(fieldRequired('spec', detail))
  if (chosen.length > 1) {
    const many = `${detail}, but multiple fields are set`
    found.push(fieldInvalid('spec', `{${chosen.join(', ')}}`, many))
  }
}
