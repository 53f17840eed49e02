import type { DeviceClaim, DeviceRequest, DeviceToleration } from '@skerry/api'
import type { Loose } from '../typed-strategy.ts'

interface CountedRequest {
  allocationMode?: string
  count?: number
  tolerations?: Loose<DeviceToleration>[]
}

interface FlatRequest extends CountedRequest {
  deviceClassName?: string
}

/**
 * Sets defaults of requests. v1 and v1beta2 nest the request under `exactly`; v1beta1 has its
 * fields next to the name, where a device class name shows that the request is one for devices.
 */
export function applyDeviceClaimDefaults(claim: Loose<DeviceClaim> | undefined): void {
  for (const request of claim?.requests ?? []) applyRequestDefaults(request)
}

function applyRequestDefaults(request: Loose<DeviceRequest> & FlatRequest): void {
  if (request.exactly) applyCountDefaults(request.exactly)
  else if (request.deviceClassName) applyCountDefaults(request)
  for (const alternative of request.firstAvailable ?? []) applyCountDefaults(alternative)
}

function applyCountDefaults(request: CountedRequest): void {
  request.allocationMode ||= 'ExactCount'
  if (request.allocationMode === 'ExactCount') request.count ||= 1
  for (const toleration of request.tolerations ?? []) toleration.operator ||= 'Equal'
}
