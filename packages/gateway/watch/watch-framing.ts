import type { TunnelHeaders, TunnelResponse } from '@skerry/tunnel'
import type { Framing } from './frame-splitter.ts'

/** Returns undefined if the answer is not a watch that can be followed: a refusal, or another encoding. */
export function framingOf({ status, headers }: TunnelResponse): Framing | undefined {
  return status === 200 ? framingOfType(headers) : undefined
}

/** Returns the framing by the content type alone. */
export function framingOfType(headers: TunnelHeaders): Framing | undefined {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = headers
  if (typeof type !== 'string' || encoding !== 'identity') return undefined
  const [name = ''] = type.split(';')
  switch (name.trim().toLowerCase()) {
    case 'application/json':
      return 'lines'
    case 'application/vnd.kubernetes.protobuf':
      return 'lengths'
    default:
      return undefined
  }
}
