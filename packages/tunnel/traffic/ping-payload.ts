/**
 * The payload of a ping: its kind, and the time at which it was sent by its sender's clock. Other payloads
 * have no meaning.
 */
export function pingPayload(name: string | number, nowMs: number): string {
  return `${name}.${Math.round(nowMs)}`
}

/** Returns the sender's monotonic time in milliseconds; undefined if the ping has none. */
export function pingSentMs(payload: string): number | undefined {
  const [, text] = /^w?\d+\.(\d{1,15})$/.exec(payload) ?? []
  return text === undefined ? undefined : Number(text)
}
