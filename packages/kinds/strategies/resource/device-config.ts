import {
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  isJsonObject,
  type OpaqueDeviceConfiguration,
} from '@skerry/api'
import { isLongerThan, type Found } from '../checks.ts'
import { checkCsiDriverName } from '../core/pod-spec-validation/csi-driver-name.ts'
import type { Loose } from '../typed-strategy.ts'
import { kindsBounds } from '../../limits-table.ts'

const { opaqueBytesMax } = kindsBounds.deviceConfig

/** Checks the configuration for a driver, in its own format. */
export function checkDeviceConfig(
  { opaque }: { opaque?: Loose<OpaqueDeviceConfiguration> },
  path: string,
  found: Found,
): void {
  if (!opaque) {
    found.push(fieldRequired(`${path}.opaque`))
    return
  }
  checkCsiDriverName(opaque.driver ?? '', `${path}.opaque.driver`, found)
  checkRawObject(opaque.parameters, `${path}.opaque.parameters`, found)
}

/** Accepts any JSON object of at most 10 KiB. */
export function checkRawObject(value: unknown, field: string, found: Found): void {
  if (value === undefined || value === null) found.push(fieldRequired(field))
  else if (isLongerThan(JSON.stringify(value), opaqueBytesMax)) {
    found.push(fieldTooLong(field, opaqueBytesMax))
  } else if (!isJsonObject(value)) {
    found.push(fieldInvalid(field, '<value omitted>', 'must be a valid JSON object'))
  }
}
