import { request as httpsRequest, type RequestOptions } from 'node:https'
import { askPeer, type PeerReply } from './ask-peer.ts'

export interface JsonPost {
  /** Names the peer in errors. */
  readonly peer: string
  readonly to: Pick<RequestOptions, 'agent' | 'host' | 'hostname' | 'path' | 'port'>
  /** Headers beyond those that describe the body. */
  readonly headers?: Readonly<Record<string, string>>
  /** JSON. */
  readonly body: string
  /** A longer answer is an error. */
  readonly bytesMax: number
}

/** Posts JSON over HTTPS and reads the whole answer. Follows no redirects. Rejects as askPeer does. */
export function postJson(
  { peer, to, headers, body, bytesMax }: JsonPost,
  signal: AbortSignal,
): Promise<PeerReply> {
  const options = {
    ...to,
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headers,
    },
    signal,
  }
  return askPeer({ peer, request: () => httpsRequest(options), body, bytesMax })
}
