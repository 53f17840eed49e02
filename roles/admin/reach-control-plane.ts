import { ExpectedError, createBackoff, exitCodes, systemRandom, type Clock } from '@skerry/base'
import { NotConnectedError, type Transport, type TransportRequest } from '@skerry/client'
import { codeOf } from '../runtime/data-directory.ts'
import { adminBounds } from './limits-table.ts'

const { retry } = adminBounds.reachControlPlane

/**
 * Wraps a transport for a person's commands. A request that was not sent, because the server closed the
 * connection before it opened, is sent again until the signal aborts: an overloaded server does that. Any
 * other request may have arrived, and is not repeated. Throws ExpectedError if no answer comes, and the
 * signal's reason unless it is a timeout.
 */
export function reachControlPlane(
  transport: Transport,
  server: string,
  clock: Pick<Clock, 'sleep'>,
): Transport {
  return {
    async send(request, signal) {
      const backoff = createBackoff(retry, systemRandom)
      for (;;) {
        try {
          return await transport.send(request, signal)
        } catch (error) {
          if (isTimeout(signal)) throw unreachable(server, late, error)
          if (!(error instanceof NotConnectedError)) throw explained(error, { server, request })
          await clock.sleep(backoff.nextMs(), signal).catch((reason: unknown) => {
            throw isTimeout(signal) ? unreachable(server, late, error) : reason
          })
        }
      }
    },
  }
}

const late = 'it is too busy to answer in time; try again'

/** Reports whether the signal is one of AbortSignal.timeout that has expired. */
function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError'
}

function explained(
  error: unknown,
  { server, request }: { server: string; request: TransportRequest },
): unknown {
  switch (codeOf(error)) {
    case 'ECONNREFUSED':
      return unreachable(server, 'nothing listens there; start it', error)
    case 'ECONNRESET': {
      const asked = `${request.method} ${request.path.split('?', 1)[0]}`
      const why = `it closed the connection during ${asked}; see its log, and try again`
      return unreachable(server, why, error)
    }
    default:
      return error
  }
}

function unreachable(server: string, why: string, cause: unknown): ExpectedError {
  const text = `Cannot reach the control plane at ${server}: ${why}`
  return new ExpectedError(text, exitCodes.unreachable, { cause })
}
