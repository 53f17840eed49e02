/**
 * Asks again in each turn of the event loop until it is so, for results that soon come from the network, or
 * from another part of the same process. Rejects after 60 s, or with the signal's reason.
 */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  signal: AbortSignal = AbortSignal.timeout(60_000),
): Promise<void> {
  while (!(await isSo())) {
    signal.throwIfAborted()
    // A server in the process answers without ever giving way to others.
    await new Promise((resolve) => setImmediate(resolve))
  }
}
