/**
 * The states of a stream, by the names that docs/tunnel-protocol.md gives them. Each direction has a state of its own,
 * and the stream as a whole is open until both directions have ended and the reader has taken every byte.
 */

/** The end that opened the stream asks; the other one answers. */
export type StreamRole = 'asking' | 'answering'

/** The direction towards this end. `unwanted`: its bytes are thrown away as they come. */
export type ReceivingState = 'head' | 'body' | 'unwanted' | 'ended'
/** `stop`: the reader wants no more. The others are what the other end sends. */
export type ReceivingEvent = 'head' | 'data' | 'end' | 'stop'

/** The direction away from this end. `ending`: the last bytes still wait for credit or for the link. */
export type SendingState = 'head' | 'body' | 'ending' | 'ended'
/** `taken`: the last byte is on its way. `drop`: the head was all, or the other end does not need the rest. */
export type SendingEvent = 'head' | 'end' | 'taken' | 'drop'

/** A cut stream ended before both directions had. */
export type StreamState =
  | { readonly name: 'open' }
  | { readonly name: 'complete' }
  | {
      readonly name: 'cut'
      /** Set if the other end reset the stream. */
      readonly resetCode?: number
      /** Set if this end cut it because of an error. */
      readonly fault?: Error
    }

type Table<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Event, State>>>>
>

/** An event without a cell must not happen in that state. */
export const receivingTable: Table<ReceivingState, ReceivingEvent> = Object.freeze({
  head: { head: 'body' },
  body: { data: 'body', end: 'ended', stop: 'unwanted' },
  unwanted: { data: 'unwanted', end: 'ended', stop: 'unwanted' },
  ended: { stop: 'ended' },
})

export const sendingTable: Table<SendingState, SendingEvent> = Object.freeze({
  head: { head: 'body' },
  body: { end: 'ending', drop: 'ended' },
  ending: { end: 'ending', taken: 'ended', drop: 'ended' },
  ended: { end: 'ended', drop: 'ended' },
})
