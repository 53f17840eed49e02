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
  /** What follows the subresource in the path, for proxy; starts with a slash or is empty. */
  readonly restOfPath: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly method: string
  /** Decoded body for create-like subresources (binding, eviction, token); undefined for streams. */
  readonly object: AnyObject | undefined
  /** Raw body for proxy. */
  readonly rawBody: AsyncIterable<Uint8Array>
  readonly user: UserInfo
  readonly isDryRun: boolean
  readonly objects: Objects
  readonly signal: AbortSignal
  /** Throws Forbidden unless the user may also do this verb. */
  readonly requireVerb: (verb: string) => Promise<void>
  /** Runs admission that may change what is created; all of it for what connects. */
  readonly admit: (object: AnyObject | undefined) => Promise<void>
  /** Admission that only looks, of a create that the handler itself finds nothing wrong with. */
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
  /** For HTTP Upgrade (exec, attach, portforward, proxy): owns the client's socket from here on. */
  upgrade?(request: SubresourceRequest, client: UpgradeSocket): Promise<void>
}

/** The client's connection after its upgrade request was read and before any answer was written. */
export interface UpgradeSocket extends Pick<ClientConnection, 'socket' | 'head'> {
  /** Who writes an answer that switches no protocols says with which status; it is what is recorded. */
  readonly onRefused?: (status: number) => void
}

/** The same, for those who write an answer's body there. */
export interface UpgradeClient extends UpgradeSocket {
  /** As ClientConnection has it, for this client. */
  readonly writeBody: (body: AnswerBody, out: Writable) => Promise<void>
}
