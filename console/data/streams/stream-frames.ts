/** The frames of one watches stream, subprotocol `skerry.watches.v1`, as JSON texts. */
import { showReorderingInJson } from '../browser/reordering-marks.ts'

export const streamPath = '/hub/v1/watches'
export const streamProtocol = 'skerry.watches.v1'

export type ClientFrame =
  | {
      readonly open: number
      readonly path: string
      readonly table?: boolean
      readonly resourceVersion?: string
    }
  | { readonly close: number }
  | { readonly more: number; readonly credits: number }

/** A column of a Table, as meta.k8s.io/v1 has it. */
export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}

export interface StreamEvent {
  /** Added, modified or deleted. */
  readonly t: 'A' | 'M' | 'D'
  readonly o: unknown
}

/** Every member is optional, because the frames of one watch have different ones. */
export interface ServerFrame {
  readonly id?: number
  readonly beat?: number
  readonly snapshot?: readonly unknown[]
  readonly columns?: readonly TableColumn[]
  readonly resourceVersion?: string
  readonly part?: number
  readonly last?: boolean
  readonly events?: readonly StreamEvent[]
  readonly state?: 'live' | 'stale' | 'away'
  readonly since?: string | number
  readonly retryAfter?: number
  readonly message?: string
  readonly error?: {
    readonly code?: number
    readonly reason?: string
    readonly message?: string
    readonly requestId?: string
  }
}

/**
 * Returns undefined for anything but an object: such a frame is dropped, and the stream goes on. Everything in a frame is
 * only shown, so that marks which turn texts around are made visible.
 */
export function readFrame(text: string): ServerFrame | undefined {
  try {
    const parsed: unknown = JSON.parse(showReorderingInJson(text))
    // All members are optional, and the readers check the ones they use.
    return typeof parsed === 'object' && parsed !== null ? (parsed as ServerFrame) : undefined
  } catch {
    return undefined
  }
}
