import { StatusError } from '@skerry/api'
import type { ApiRequest, RequestInfo, UserInfo } from '@skerry/apiserver'
import { resourceText } from '../copies/scope.ts'
import { nodeApiBounds } from '../limits-table.ts'

const { retryAfterSeconds } = nodeApiBounds.awayRefusals

/** A request of somebody whose token is good, while the control plane is away. */
export interface AwayRequest {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly user: UserInfo
  /** Returns the refusal of a request that only the control plane could answer. */
  readonly refuse: (why: string) => StatusError
}

/** Returns the refusal of a request that only the control plane could answer: 503 with the reason and the age. */
export function awayRefusal(why: string, awayMs: number | undefined): StatusError {
  const text = `the control plane is away ${ageText(awayMs)}, and ${why}`
  return new StatusError('ServiceUnavailable', `Cannot answer on this node: ${text}`, {
    details: { retryAfterSeconds, causes: [{ reason: 'ControlPlaneAway', message: why }] },
  })
}

/** Names what was asked: `list of deployments.apps in namespace shop`. */
export function askedText(info: RequestInfo): string {
  if (!info.isResourceRequest) return info.path
  const { verb, namespace, name, subresource } = info
  const what = resourceText(info.resource)
  const place =
    namespace === '' || info.resource.resource === 'namespaces' ? '' : ` in namespace ${namespace}`
  const part = subresource === '' ? '' : `/${subresource}`
  return `${verb} of ${what}${part}${name === '' ? '' : ` ${JSON.stringify(name)}`}${place}`
}

/** Says how long the control plane is away: `for 3 minutes`. */
function ageText(awayMs: number | undefined): string {
  if (awayMs === undefined) return 'since this node started'
  const seconds = Math.max(1, Math.round(awayMs / 1_000))
  if (seconds < 120) return `for ${seconds} seconds`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `for ${minutes} minutes` : `for ${Math.round(minutes / 60)} hours`
}
