import type { EngineEvent } from '../engine/key-value.ts'
import { etcdServerBounds } from '../limits-table.ts'
import type { Message, MessageDraft } from '../wire/etcd-messages-table.ts'
import { shareBytes } from '../wire/message-codec.ts'

type WireEvent = MessageDraft<'Event'>

const types = Object.freeze({ put: 0, delete: 1 })
const filters = Object.freeze({ noPut: 0, noDelete: 1 })
const { eventHeadBytes } = etcdServerBounds.watchEvents

export interface Wanted {
  readonly request: Pick<Message<'WatchCreateRequest'>, 'filters' | 'prevKv'>
  /** Events below this revision are not wanted. */
  readonly from: number
}

/** Returns the events as the watch asked for them. */
export function wireEvents(
  events: readonly EngineEvent[],
  { request, from }: Wanted,
): readonly WireEvent[] {
  const { filters: refused, prevKv } = request
  return events.flatMap((event): WireEvent[] => {
    const { type, kv } = event
    const isRefused = refused.includes(type === 'put' ? filters.noPut : filters.noDelete)
    if (isRefused || kv.modRevision < from) return []
    return [wireEventOf(event, prevKv)]
  })
}

/** The wire's forms of events that watches of one moment share: without the entry before it, and with that. */
const wireForms = new WeakMap<EngineEvent, [plain?: WireEvent, withPrevious?: WireEvent]>()

function wireEventOf(event: EngineEvent, hasPrevious: boolean): WireEvent {
  const forms = wireForms.get(event) ?? []
  const place = hasPrevious ? 1 : 0
  const known = forms[place]
  if (known) return shareBytes(known)
  const { type, kv } = event
  const shown = type === 'put' ? kv : { key: kv.key, modRevision: kv.modRevision }
  const form: WireEvent = { type: types[type], kv: shown }
  const previous = hasPrevious ? event.previous() : undefined
  const made = previous ? { ...form, prevKv: previous } : form
  forms[place] = made
  wireForms.set(event, forms)
  return made
}

/** Divides events into answers below `bytesMax`, as far as single events allow. */
export function fragmentsOf(events: readonly WireEvent[], bytesMax: number): WireEvent[][] {
  const parts: WireEvent[][] = []
  let bytes = Infinity
  for (const event of events) {
    const size = sizeOf(event)
    const last = parts.at(-1)
    bytes += size
    if (last && bytes < bytesMax) last.push(event)
    else {
      parts.push([event])
      bytes = size
    }
  }
  return parts
}

function sizeOf({ kv, prevKv }: WireEvent): number {
  const values = (kv?.value?.length ?? 0) + (prevKv?.value?.length ?? 0)
  return eventHeadBytes + values + (kv?.key?.length ?? 0) + (prevKv?.key?.length ?? 0)
}
