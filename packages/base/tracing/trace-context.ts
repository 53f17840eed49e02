import type { Random } from '../random.ts'
import { baseBounds } from '../limits-table.ts'

/** The position of an operation in a trace (W3C Trace Context, level 1). */
export interface TraceContext {
  /** 32 hexadecimal digits, not all of them 0. */
  readonly traceId: string
  /** 16 hexadecimal digits, not all of them 0. */
  readonly spanId: string
  /** True if the originator of the trace wants its spans. */
  readonly isSampled: boolean
  /** Other programs' data about the trace, passed on unchanged. It may be empty. */
  readonly state: string
}

export type TraceHeaders = Readonly<{ traceparent: string; tracestate?: string }>

const { stateBytesMax } = baseBounds.traceContext
const parentShape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Returns undefined if there is no context, or a malformed one (section 2.2 of the recommendation). */
export function readTraceContext(
  parent: string | undefined,
  state: string | undefined,
): TraceContext | undefined {
  const [, version = 'ff', traceId = '', spanId = '', flags = '', rest] =
    parentShape.exec(parent ?? '') ?? []
  const isKnown = version !== 'ff' && (version !== '00' || rest === undefined)
  if (!isKnown || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return {
    traceId,
    spanId,
    isSampled: (Number.parseInt(flags, 16) & 1) === 1,
    state: state !== undefined && state.length <= stateBytesMax ? state : '',
  }
}

export function traceHeaders({ traceId, spanId, isSampled, state }: TraceContext): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
  return state === '' ? { traceparent } : { traceparent, tracestate: state }
}

/** Returns this many hexadecimal digits, an even number, not all of them 0. */
export function traceDigits(count: number, random: Random): string {
  for (;;) {
    const digits = Buffer.from(random.bytes(count / 2)).toString('hex')
    if (!/^0+$/.test(digits)) return digits
  }
}
