/** What a ping carries: what it is, and when it was sent by its sender's clock. Others than these mean nothing. */
export function pingPayload(name: string | number, nowMs: number): string {
  return `${name}.${Math.round(nowMs)}`
}

/** Milliseconds of the sender's monotonic time; undefined where the ping does not say. */
export function pingSentMs(payload: string): number | undefined {
  const [, text] = /^w?\d+\.(\d{1,15})$/.exec(payload) ?? []
  return text === undefined ? undefined : Number(text)
}
