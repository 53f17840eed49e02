import {
  checkLabelValue,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  type Device,
  type DeviceAttribute,
  type DeviceTaint,
} from '@skerry/api'
import {
  addInvalid,
  checkLabelField,
  checkQualifiedField,
  isLongerThan,
  type Found,
} from '../checks.ts'
import type { Loose } from '../typed-strategy.ts'
import { checkConsumption } from './counter-validation.ts'
import { checkDeviceKey } from './device-name.ts'
import { checkList } from './list-checks.ts'
import { checkNodeChoice } from './node-choice.ts'
import { checkRequestPolicy } from './request-policy.ts'
import { kindsBounds } from '../../limits-table.ts'

const effects = ['NoExecute', 'NoSchedule', 'None']

export function checkDeviceNodes(
  device: Loose<Device>,
  { field, isPerDevice }: { field: string; isPerDevice: boolean },
  found: Found,
): void {
  const whenSet = '`perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  if (!isPerDevice) {
    const { allNodes, nodeName, nodeSelector } = device
    if (allNodes === undefined && nodeName === undefined && !nodeSelector) return
    const detail = `\`nodeName\`, \`nodeSelector\` and \`allNodes\` can only be set if ${whenSet}`
    found.push(fieldInvalid(field, null, detail))
    return
  }
  const chosen = checkNodeChoice(device, { path: field, emptyName: 'must not be empty' }, found)
  const all = '`nodeName`, `nodeSelector`, or `allNodes`'
  const detail = `exactly one of ${all} is required when ${whenSet}`
  if (chosen.length === 0) found.push(fieldRequired(field, detail))
  if (chosen.length > 1) found.push(fieldInvalid(field, `{${chosen.join(', ')}}`, detail))
}

export function checkDevice(device: Loose<Device>, path: string, found: Found): void {
  const { attributes = {}, capacity = {}, name = '', taints = [] } = device
  checkLabelField(name, `${path}.name`, found)
  const count = Object.keys(attributes).length + Object.keys(capacity).length
  if (count > 32) {
    const detail = 'the total number of attributes and capacities must not exceed 32'
    found.push(fieldInvalid(path, count, detail))
  }
  for (const [key, attribute] of Object.entries(attributes)) {
    const field = `${path}.attributes[${key}]`
    checkDeviceKey(key, `${path}.attributes`, found)
    checkAttribute(attribute, field, found)
  }
  for (const [key, amount] of Object.entries(capacity)) {
    const field = `${path}.capacity[${key}].requestPolicy`
    checkDeviceKey(key, `${path}.capacity`, found)
    checkRequestPolicy(amount, { field, isShared: device.allowMultipleAllocations === true }, found)
  }
  checkList(taints, { field: `${path}.taints`, max: taintsMax }, found, checkTaint)
  checkConsumption(device.consumesCounters ?? [], `${path}.consumesCounters`, found)
}

const { taintsMax, valueBytesMax } = kindsBounds.deviceValidation
const semver =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/

function checkAttribute(attribute: Loose<DeviceAttribute>, field: string, found: Found): void {
  const { string, strings = [], version, versions = [] } = attribute
  if (string !== undefined) checkValueLength(string, `${field}.string`, found)
  if (version !== undefined) checkVersion(version, `${field}.version`, found)
  for (const list of ['bools', 'ints', 'strings', 'versions'] as const) {
    const values = attribute[list]
    if (values?.length !== 0) continue
    found.push(fieldInvalid(`${field}.${list}`, values, 'must not be empty if specified'))
  }
  for (const [at, text] of strings.entries())
    checkValueLength(text, `${field}.strings[${at}]`, found)
  for (const [at, text] of versions.entries()) checkVersion(text, `${field}.versions[${at}]`, found)
  const count = Object.values(attribute).filter((value) => value !== undefined).length
  if (count === 1) return
  const value = count === 0 ? '' : attribute
  found.push(fieldInvalid(field, value, 'exactly one value must be specified'))
}

function checkValueLength(text: string, field: string, found: Found): void {
  if (isLongerThan(text, valueBytesMax)) found.push(fieldTooLong(field, valueBytesMax))
}

function checkVersion(text: string, field: string, found: Found): void {
  if (!semver.test(text)) {
    const detail = 'must be a string compatible with semver.org spec 2.0.0'
    found.push(fieldInvalid(field, text, detail))
  }
  checkValueLength(text, field, found)
}

export function checkTaint(taint: Loose<DeviceTaint>, path: string, found: Found): void {
  const { effect = '', key = '', value = '' } = taint
  checkQualifiedField(key, `${path}.key`, found)
  if (value) addInvalid(found, `${path}.value`, value, checkLabelValue(value))
  if (!effect) found.push(fieldRequired(`${path}.effect`))
  else if (!effects.includes(effect)) {
    found.push(fieldNotSupported(`${path}.effect`, effect, effects))
  }
}
