import { isJsonObject, type JsonObject, type AnyObject } from '@skerry/api'

/**
 * Converts resource.k8s.io/v1beta1 to v1 and back, in place. v1beta1 writes a request's fields next
 * to its name, where v1 nests them under `exactly`; it nests a device's fields under `basic`, where
 * v1 has them next to the name.
 */
export function claimToV1(claim: AnyObject): void {
  for (const request of requestsOf(claim['spec'])) nestRequest(request)
}

export function claimFromV1(claim: AnyObject): void {
  for (const request of requestsOf(claim['spec'])) flattenRequest(request)
}

export function claimTemplateToV1(template: AnyObject): void {
  for (const request of requestsOf(field(template['spec'], 'spec'))) nestRequest(request)
}

export function claimTemplateFromV1(template: AnyObject): void {
  for (const request of requestsOf(field(template['spec'], 'spec'))) flattenRequest(request)
}

export function sliceToV1(slice: AnyObject): void {
  for (const device of recordsIn(field(slice['spec'], 'devices'))) {
    const { basic } = device
    delete device['basic']
    if (isJsonObject(basic)) Object.assign(device, basic)
  }
}

/** Always writes `basic`, even if it is empty. */
export function sliceFromV1(slice: AnyObject): void {
  for (const device of recordsIn(field(slice['spec'], 'devices'))) {
    const { name, ...basic } = device
    for (const key of Object.keys(basic)) delete device[key]
    device['basic'] = basic
    if (name !== undefined) device['name'] = name
  }
}

const besideName = new Set(['name', 'firstAvailable', 'exactly'])

/** A request that only has alternatives stays as it is; any other field is for one device. */
function nestRequest(request: JsonObject): void {
  const own = Object.entries(request).filter(([key]) => !besideName.has(key))
  for (const [key] of own) delete request[key]
  const isAsked = own.some(([key, value]) => key !== 'deviceClassName' || value !== '')
  if (isAsked) request['exactly'] = { deviceClassName: '', ...Object.fromEntries(own) }
}

function flattenRequest(request: JsonObject): void {
  const { exactly } = request
  delete request['exactly']
  Object.assign(request, { deviceClassName: '' }, isJsonObject(exactly) ? exactly : {})
}

function requestsOf(spec: unknown): JsonObject[] {
  return recordsIn(field(field(spec, 'devices'), 'requests'))
}

function field(value: unknown, key: string): unknown {
  return isJsonObject(value) ? value[key] : undefined
}

function recordsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
