import type { Clock, Random } from '@skerry/base'
import type { Authenticator } from '../contract/access.ts'
import type { AuditSink } from '../contract/audit.ts'
import { auditIdOf } from '../http/audit-id.ts'
import type { ApiRequest } from '../contract/exchange.ts'
import { parseRequestInfo } from '../contract/request-info.ts'
import type { UnreadableRequest } from '../http/unreadable-request.ts'
import { identify } from './identify.ts'
import { apiServerBounds } from '../limits-table.ts'

export interface UnreadableDeps {
  readonly access: { readonly authenticators: readonly Authenticator[] }
  readonly audit: AuditSink
  readonly clock: Pick<Clock, 'now' | 'setTimer'>
  readonly random: Random
}

const { identifyMs } = apiServerBounds.auditUnreadable

/**
 * Records bytes that were not a request: without method and target, since none could be read, for
 * the user that the connection's certificate names. A sender that headers would have named stays
 * unknown.
 */
export function auditUnreadable(
  deps: UnreadableDeps,
): (unreadable: UnreadableRequest) => Promise<void> {
  const { access, audit, clock, random } = deps
  return async ({ peer, status, why }) => {
    const startedAtMs = clock.now()
    const late = new AbortController()
    using _timer = clock.setTimer(identifyMs, () => late.abort())
    // A bad certificate names nobody.
    const caller = await identify(nothingFrom(peer, late.signal), access, () => undefined).catch(
      () => undefined,
    )
    audit({
      auditId: auditIdOf({}, random),
      info: parseRequestInfo('', ''),
      uri: '',
      user: caller?.user,
      impersonator: undefined,
      sourceAddress: peer.type === 'socket' ? peer.address : '',
      userAgent: '',
      status,
      startedAtMs,
      durationMs: 0,
      unreadable: why,
    })
  }
}

function nothingFrom(peer: ApiRequest['peer'], signal: AbortSignal): ApiRequest {
  return { method: '', target: '', headers: {}, fields: () => [], body: nothing(), peer, signal }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
