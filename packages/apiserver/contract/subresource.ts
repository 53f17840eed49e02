import type { Writable } from 'node:stream'
import type { AnyObject, Kind } from '@skerry/api'
import type { UserInfo } from './access.ts'
import type { AnswerBody, ClientConnection } from './exchange.ts'
import type { Objects } from './objects.ts'

/** One authorized request for a subresource that the generic registry does not serve itself. */
export interface SubresourceRequest {
  readonly verb: string
  readonly kind: Kind
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** The rest of the path after the subresource, for proxy. It starts with a slash or is empty. */
  readonly restOfPath: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly method: string
  /** The decoded body for create-like subresources (binding, eviction, token). Undefined for streams. */
  readonly object: AnyObject | undefined
  /** The raw body for proxy. */
  readonly rawBody: AsyncIterable<Uint8Array>
  readonly user: UserInfo
  readonly isDryRun: boolean
  readonly objects: Objects
  readonly signal: AbortSignal
  /** Throws Forbidden unless the user may also use this verb. */
  readonly requireVerb: (verb: string) => Promise<void>
  /** Runs mutating admission for a create, and all admission for a connection. */
  readonly admit: (object: AnyObject | undefined) => Promise<void>
  /** Runs validating admission for a create, after the handler has found no error itself. */
  readonly admitValid: (object: AnyObject) => Promise<void>
}

export type SubresourceAnswer =
  | { readonly type: 'object'; readonly status: number; readonly object: AnyObject }
  | {
      readonly type: 'stream'
      readonly status: number
      readonly headers: Readonly<Record<string, string | readonly string[]>>
      readonly body: AsyncIterable<Uint8Array>
    }

/** Serves one subresource, e.g. pods/log. The key in the table is `resource/subresource`. */
export interface SubresourceHandler {
  serve(request: SubresourceRequest): Promise<SubresourceAnswer>
  /** Serves HTTP Upgrade (exec, attach, portforward, proxy). Owns the client's socket from here on. */
  upgrade?(request: SubresourceRequest, client: UpgradeSocket): Promise<void>
}

/** The client's connection after its upgrade request was read, and before any answer is written. */
export interface UpgradeSocket extends Pick<ClientConnection, 'socket' | 'head'> {
  /** Reports the status of an answer that does not switch protocols, for the records. */
  readonly onRefused?: (status: number) => void
}

/** The same, for handlers that write an answer's body to the connection. */
export interface UpgradeClient extends UpgradeSocket {
  /** Does the same as ClientConnection's writeBody, for this client. */
  readonly writeBody: (body: AnswerBody, out: Writable) => Promise<void>
}
