import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { abortReason } from '../abort.ts'
import type { Clock, Timer } from '../clock.ts'
import { ConnectError, type Connect, type Destination } from './connect.ts'
import { baseBounds } from '../limits-table.ts'

export interface TcpOptions {
  /** The time for one address to answer. The kernel alone would take minutes. */
  readonly timeoutMs: number
  readonly clock: Clock
  /** Returns all addresses of a name, the best first. If omitted, the system's resolver is used. */
  readonly lookup?: (host: string) => Promise<readonly LookupAddress[]>
}

const { staggerMs, addressesMax } = baseBounds.connectByTcp
/**
 * A watch may be silent for minutes, but routers forget connections that are silent for 30 s, and
 * the kernel alone would wait for two hours.
 */
const lasting = Object.freeze({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 })

/**
 * Connects directly over TCP. The first of a name's addresses that answers wins. IPv6 and IPv4
 * alternate, and a dead address costs a quarter of a second (RFC 8305). No address is given up just
 * for being slow: over a satellite each takes longer than that.
 */
export function connectByTcp(options: TcpOptions): Connect {
  return async (to, signal) => {
    signal.throwIfAborted()
    const addresses = await resolved(to, options.lookup ?? bySystem, signal)
    return firstToAnswer(to, addresses, options, signal)
  }
}

function bySystem(host: string): Promise<readonly LookupAddress[]> {
  return lookup(host, { all: true, order: 'verbatim' })
}

async function resolved(
  { host, port }: Destination,
  lookUp: (host: string) => Promise<readonly LookupAddress[]>,
  signal: AbortSignal,
): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(abortReason(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    // The system's resolver cannot be stopped, so the caller stops waiting instead.
    const found = await Promise.race([lookUp(host), stopped])
    return inTurns(found).slice(0, addressesMax)
  } catch (cause) {
    if (signal.aborted) throw cause
    throw new ConnectError(`Cannot connect to ${host} port ${port}: ${nameFault(cause)}`, { cause })
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function nameFault(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  return code === 'ENOTFOUND'
    ? `its name is not known here (${code}); check the name and the DNS server of this machine`
    : `its name cannot be looked up (${code}); check that the DNS server of this machine answers`
}

/** Keeps the resolver's order, which knows the routes, but alternates the families while both remain. */
function inTurns(found: readonly { address: string; family: number }[]): string[] {
  const first = found.filter(({ family }) => family === found[0]?.family)
  const other = found.filter(({ family }) => family !== found[0]?.family)
  const both = first.flatMap((address, index) => [address, ...other.slice(index, index + 1)])
  return [...both, ...other.slice(first.length)].map(({ address }) => address)
}

function firstToAnswer(
  { host, port }: Destination,
  addresses: readonly string[],
  { timeoutMs, clock }: TcpOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const open = new Map<Socket, Timer>()
  const faults: Error[] = []
  let begun = 0
  let next: Timer | undefined
  const settle = (winner?: Socket): void => {
    next?.[Symbol.dispose]()
    signal.removeEventListener('abort', onAbort)
    for (const [socket, timer] of open) {
      timer[Symbol.dispose]()
      if (socket !== winner) socket.destroy()
    }
    open.clear()
  }
  const onAbort = (): void => {
    settle()
    reject(abortReason(signal))
  }
  const begin = (): void => {
    next?.[Symbol.dispose]()
    const address = addresses[begun]
    if (address === undefined) return
    begun += 1
    const socket = connectTcp({ ...lasting, host: address, port })
    const silent = new Error(`no answer in ${timeoutMs} ms`)
    open.set(
      socket,
      clock.setTimer(timeoutMs, () => void socket.destroy(silent)),
    )
    const onError = (cause: Error): void => {
      open.get(socket)?.[Symbol.dispose]()
      if (!open.delete(socket)) return
      faults.push(cause)
      if (begun < addresses.length) return begin()
      if (open.size > 0) return
      settle()
      const why = [...new Set(faults.map(({ message }) => message))].join('; ')
      reject(new ConnectError(`Cannot connect to ${host} port ${port}: ${why}`, { cause }))
    }
    socket.on('error', onError)
    socket.once('connect', () => {
      if (!open.has(socket)) return
      socket.off('error', onError)
      settle(socket)
      resolve(socket)
    })
    if (begun < addresses.length) next = clock.setTimer(staggerMs, begin)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  else begin()
  return promise
}
