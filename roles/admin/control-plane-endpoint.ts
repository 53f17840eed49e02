const portDefault = 6_443

/**
 * Parses the address before the masters, `host[:port]` with kubeadm's default port 6443. Returns `host:port`, or undefined
 * if the text is anything else: commands print it in lines for a shell.
 */
export function parseEndpoint(text: string): string | undefined {
  const [, host, digits] = /^(\[[\da-f:.]+\]|\w[\w.-]*)(?::(\d{1,5}))?$/i.exec(text) ?? []
  const port = Number(digits ?? portDefault)
  if (host === undefined || port < 1 || port > 65_535) return undefined
  return URL.parse(`https://${host}`) === null ? undefined : `${host}:${port}`
}

/** Returns the host of a parsed endpoint; an IPv6 address keeps its brackets. */
export function endpointHost(endpoint: string): string {
  return endpoint.slice(0, endpoint.lastIndexOf(':'))
}
