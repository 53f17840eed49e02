import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { timingSafeEqual } from 'node:crypto'
import { ExpectedError, abortReason, exitCodes } from '@skerry/base'
import { clientBounds } from '../limits-table.ts'

/** Receives a browser's redirect on this machine only (RFC 8252, section 7.3). */
export interface LoopbackListener extends AsyncDisposable {
  readonly redirectUri: string
  /**
   * Resolves to the address with which the browser that has this state came back. Rejects with the
   * signal's reason.
   */
  answered(state: string, signal: AbortSignal): Promise<URL>
}

const path = '/callback'
const { headerBytesMax } = clientBounds.loopbackListener

/** Opens the listener. `port` 0 means any free one. Throws ExpectedError if the port is taken. */
export async function openLoopbackListener(port: number): Promise<LoopbackListener> {
  const waiting: { state: string; resolve: (url: URL) => void }[] = []
  const origin = (): string => `http://127.0.0.1:${boundPort}`
  const server = createServer({ maxHeaderSize: headerBytesMax }, (request, response) => {
    const found = arrived(request, origin(), waiting)
    reply(response, found !== undefined)
    if (!found) return
    waiting.splice(waiting.indexOf(found.waiter), 1)
    found.waiter.resolve(found.url)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const text = `Cannot listen on 127.0.0.1:${port} for the browser: ${cause.message}; pass another --port`
      reject(new ExpectedError(text, exitCodes.portTaken, { cause }))
    })
    server.listen(port, '127.0.0.1', resolve)
  })
  // A server that listens on a port has an address of this type.
  const { port: boundPort } = server.address() as AddressInfo
  return {
    redirectUri: `${origin()}${path}`,
    answered: (state, signal) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => reject(abortReason(signal))
        if (signal.aborted) return onAbort()
        signal.addEventListener('abort', onAbort, { once: true })
        waiting.push({
          state,
          resolve: (url) => {
            signal.removeEventListener('abort', onAbort)
            resolve(url)
          },
        })
      }),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Ignores requests without the state, or under another name of this machine. */
function arrived<W extends { readonly state: string }>(
  { method, url = '', headers }: IncomingMessage,
  origin: string,
  waiting: readonly W[],
): { waiter: W; url: URL } | undefined {
  if (method !== 'GET' || `http://${headers.host}` !== origin) return undefined
  if (!URL.canParse(url, origin)) return undefined
  const target = new URL(url, origin)
  if (target.origin !== origin || target.pathname !== path) return undefined
  const states = target.searchParams.getAll('state')
  const [state = ''] = states
  const waiter = waiting.find((each) => states.length === 1 && isSame(each.state, state))
  return waiter && { waiter, url: target }
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function reply(response: ServerResponse, isExpected: boolean): void {
  response.writeHead(isExpected ? 200 : 400, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  })
  response.end(
    isExpected
      ? 'Thank you. Go on where you started to log in; this page may be closed.\n'
      : 'Nobody waits for this here.\n',
  )
}
