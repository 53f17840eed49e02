/** Where a server is reached from its own machine: one that listens everywhere has no address of its own. */
export function localServer(address: string): string {
  const url = new URL(address)
  if (['0.0.0.0', '[::]'].includes(url.hostname)) url.hostname = '127.0.0.1'
  return url.origin
}
