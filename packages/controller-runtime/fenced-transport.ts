import type { Transport } from '@skerry/client'
import { LeaseLostError, type Leadership } from './leader-election.ts'

/**
 * Sends writes only while the lease is held. A leader that stood still, e.g. because its machine slept, thus writes
 * nothing after another one has begun, even before its own timers have told it to stop.
 */
export function fencedTransport(transport: Transport, { isHeld }: Leadership): Transport {
  return {
    async send(request, signal) {
      if (request.method !== 'GET' && !isHeld()) {
        throw new LeaseLostError('Cannot write: another process may lead by now')
      }
      return transport.send(request, signal)
    },
  }
}
