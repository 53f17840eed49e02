/**
 * A long cable between two network namespaces: packets come out at the other end after a delay, at
 * the link's rate, and are dropped when its queue is full. The kernel's own (netem) is not
 * everywhere. SIGUSR2 cuts it, and mends it the next time: both ends stay up and hear nothing.
 * Arguments: two file descriptors of TUN or TAP devices, milliseconds one way, bytes per second, how many
 * milliseconds of the link's time its queue holds, and how many packets of a hundred are lost. Prints `ready`.
 */
import { read, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { seededRandom } from '@skerry/base'

const readFrom = promisify(read)
const packetBytesMax = 65_536

let isCut = false
process.on('SIGUSR2', () => (isCut = !isCut))

interface Link {
  delayMs: number
  bytesPerSecond: number
  queueMs: number
  lossPercent: number
}

const random = seededRandom(1)

interface Waiting {
  readonly packet: Buffer
  readonly dueMs: number
}

async function carry(
  from: number,
  to: number,
  { delayMs, bytesPerSecond, queueMs, lossPercent }: Link,
): Promise<void> {
  const waiting: Waiting[] = []
  let freeAtMs = 0
  let timer: NodeJS.Timeout | undefined
  const deliver = (): void => {
    timer = undefined
    const nowMs = performance.now()
    let sent = 0
    for (const { packet, dueMs } of waiting) {
      if (dueMs > nowMs) break
      sent += 1
      tryWrite(to, packet)
    }
    waiting.splice(0, sent)
    const [next] = waiting
    if (next) timer = setTimeout(deliver, Math.max(0, next.dueMs - nowMs))
  }
  for (;;) {
    const { bytesRead, buffer } = await readFrom(
      from,
      Buffer.allocUnsafe(packetBytesMax),
      0,
      packetBytesMax,
      null,
    )
    const nowMs = performance.now()
    const startMs = Math.max(nowMs, freeAtMs)
    if (isCut || startMs - nowMs > queueMs) continue
    if (random.next() * 100 < lossPercent) continue
    freeAtMs = startMs + (bytesRead * 1_000) / bytesPerSecond
    waiting.push({ packet: buffer.subarray(0, bytesRead), dueMs: freeAtMs + delayMs })
    timer ??= setTimeout(deliver, delayMs)
  }
}

/** A device that is down drops packets, as a cable without an end does. */
function tryWrite(to: number, packet: Buffer): void {
  try {
    writeSync(to, packet)
  } catch (error) {
    if (
      !(
        error instanceof Error &&
        'code' in error &&
        /^(EIO|ENETDOWN|EAGAIN|EINVAL)$/.test(String(error.code))
      )
    )
      throw error
  }
}

const [one = 0, other = 0, delayMs = 0, bytesPerSecond = 0, queueMs = 0, lossPercent = 0] =
  process.argv.slice(2).map(Number)
const link: Link = { delayMs, bytesPerSecond, queueMs, lossPercent }
process.stdout.write('ready\n')
await Promise.all([carry(one, other, link), carry(other, one, link)])
