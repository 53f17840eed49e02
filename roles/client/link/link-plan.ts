import { clientBounds } from '../limits-table.ts'

/** The faults of a simulated link. Omitted ones are not simulated. */
export interface LinkFaults {
  readonly delayMs?: number
  /** The share of packets that are lost in each direction, in percent. */
  readonly lossPercent?: number
  readonly bitsPerSecond?: number
  readonly cuts?: { readonly everyMs: number; readonly forMs: number }
}

/** A named interface, in a network namespace or in that of this process. */
export interface LinkPlace {
  readonly interface: string
  readonly netns: string | undefined
}

export interface LinkPlan {
  /** The arguments of tc that impair what leaves; none if nftables does that. */
  readonly queue: readonly string[] | undefined
  /** The script of nft that makes the table. */
  readonly table: string
}

/** Thrown for faults that the kernel cannot simulate. */
export class CannotDelayError extends Error {
  override name = 'CannotDelayError'
}

const { queueMs, burstBytesMin } = clientBounds.linkPlan
const parts = 1_000_000

/**
 * Distributes the faults. The kernel's netem delays packets that leave, loses some and slows them down. Without it, tbf
 * slows them down, nftables loses some, and nothing can delay. Packets that arrive are lost and slowed down by nftables
 * alone, because a queue sees none of them.
 */
export function planLink(
  faults: LinkFaults,
  place: LinkPlace,
  kernel: { readonly hasNetem: boolean },
): LinkPlan {
  if ((faults.delayMs ?? 0) > 0 && !kernel.hasNetem) {
    throw new CannotDelayError(
      'this kernel has no netem (module sch_netem), and nothing else delays',
    )
  }
  const loss = lossRule(faults)
  const queue = kernel.hasNetem ? netemOf(faults) : tbfOf(faults)
  const device = JSON.stringify(place.interface)
  const leaving = kernel.hasNetem ? [] : [loss]
  return {
    queue: queue && ['qdisc', 'add', 'dev', place.interface, 'root', ...queue],
    table: [
      `create table inet ${tableOf(place)}`,
      `table inet ${tableOf(place)} {`,
      '  set cut { type ifname; flags timeout; }',
      '  chain arriving {',
      '    type filter hook prerouting priority -310; policy accept;',
      '    iifname @cut drop',
      ...[loss, policeRule(faults)].flatMap((rule) =>
        rule ? `    iifname ${device} ${rule}` : [],
      ),
      '  }',
      '  chain leaving {',
      '    type filter hook postrouting priority 310; policy accept;',
      '    oifname @cut drop',
      ...leaving.flatMap((rule) => (rule ? `    oifname ${device} ${rule}` : [])),
      '  }',
      '}',
      '',
    ].join('\n'),
  }
}

/** Returns the script that cuts the link; a timer of the kernel mends it. */
export function planCut(place: LinkPlace, forMs: number): string {
  const element = `${JSON.stringify(place.interface)} timeout ${Math.ceil(forMs)}ms`
  return `add element inet ${tableOf(place)} cut { ${element} }\n`
}

/** The name of the table, whose presence says that a link is simulated. */
export function tableOf(place: LinkPlace): string {
  return `skerry_link_${place.interface.replaceAll(/[^A-Za-z0-9]/g, '_')}`
}

function netemOf({ delayMs = 0, lossPercent = 0, bitsPerSecond }: LinkFaults) {
  const words = [
    ...(delayMs > 0 ? ['delay', `${delayMs}ms`] : []),
    ...(lossPercent > 0 ? ['loss', `${lossPercent}%`] : []),
    ...(bitsPerSecond === undefined ? [] : ['rate', `${bitsPerSecond}bit`]),
  ]
  return words.length === 0 ? undefined : ['netem', ...words]
}

function tbfOf({ bitsPerSecond }: LinkFaults): readonly string[] | undefined {
  if (bitsPerSecond === undefined) return undefined
  return [
    'tbf',
    'rate',
    `${bitsPerSecond}bit`,
    'burst',
    `${burstOf(bitsPerSecond)}`,
    'latency',
    `${queueMs}ms`,
  ]
}

function policeRule({ bitsPerSecond }: LinkFaults): string | undefined {
  if (bitsPerSecond === undefined) return undefined
  const bytes = Math.max(1, Math.floor(bitsPerSecond / 8))
  return `limit rate over ${bytes} bytes/second burst ${burstOf(bitsPerSecond)} bytes drop`
}

/** A fiftieth of a second of the link, and enough for the largest packets that interfaces of one machine exchange. */
function burstOf(bitsPerSecond: number): number {
  return Math.max(burstBytesMin, Math.ceil(bitsPerSecond / 8 / 50))
}

function lossRule({ lossPercent = 0 }: LinkFaults): string | undefined {
  if (lossPercent <= 0) return undefined
  if (lossPercent >= 100) return 'drop'
  const threshold = Math.round((lossPercent / 100) * parts)
  return `numgen random mod ${parts} < ${threshold} drop`
}
