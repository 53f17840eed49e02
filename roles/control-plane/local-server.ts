/** Returns the address of a server on its own machine: one that listens everywhere has no specific address. */
export function localServer(address: string): string {
  const url = new URL(address)
  if (['0.0.0.0', '[::]'].includes(url.hostname)) url.hostname = '127.0.0.1'
  return url.origin
}
