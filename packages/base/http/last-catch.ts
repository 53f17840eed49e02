import { asError } from '../as-error.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from '../log.ts'

type Handling = void | Promise<void>

/**
 * Returns a listener of `request` of a Node server: an error that the handling throws or rejects
 * with ends only that request. It is answered with 500 if no head is written yet; otherwise the
 * connection is closed, because the client could not interpret anything after it.
 */
export function lastCatch(
  handle: (request: IncomingMessage, response: ServerResponse) => Handling,
  log: Logger,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const fail = (error: unknown): void => {
      log.error('Request handling failed', { error: asError(error) })
      if (response.headersSent || response.destroyed) return void response.destroy()
      for (const name of response.getHeaderNames()) response.removeHeader(name)
      // The rest of the request would be read as the next one.
      response.writeHead(500, { 'content-type': 'text/plain', connection: 'close' })
      response.end('internal error\n')
    }
    settle(() => handle(request, response), fail)
  }
}

/** Does the same for `upgrade` and the like: the connection is closed. */
export function lastCatchOf<Args extends readonly unknown[]>(
  connectionOf: (...args: Args) => Pick<Duplex, 'destroy'>,
  handle: (...args: Args) => Handling,
  log: Logger,
): (...args: Args) => void {
  return (...args) => {
    const fail = (error: unknown): void => {
      log.error('Connection handling failed', { error: asError(error) })
      connectionOf(...args).destroy()
    }
    settle(() => handle(...args), fail)
  }
}

function settle(run: () => Handling, fail: (error: unknown) => void): void {
  try {
    const running = run()
    if (running instanceof Promise) running.catch(fail)
  } catch (error) {
    fail(error)
  }
}
