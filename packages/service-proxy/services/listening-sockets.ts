export interface ListeningSocket {
  readonly port: number
  /** Undefined for all addresses of the machine. */
  readonly address: string | undefined
}

/**
 * Parses `/proc/net/tcp` and its relatives (proc(5)). Sockets of one of the machine's own loopback addresses and of IPv6
 * addresses take nothing that is sent to an IPv4 address.
 */
export function parseSockets(text: string, state: string): ListeningSocket[] {
  return text.split('\n').flatMap((line) => {
    const [, local = '', , own] = line.trim().split(/\s+/)
    const [hex = '', port = ''] = local.split(':')
    if (own !== state || port === '') return []
    const address = addressOf(hex)
    if (address === undefined || address.startsWith('127.')) return []
    const isAny = address === '0.0.0.0'
    return [{ port: Number.parseInt(port, 16), address: isAny ? undefined : address }]
  })
}

/** Decodes words in the byte order of the machine. Returns undefined for an address of IPv6 alone. */
function addressOf(hex: string): string | undefined {
  if (hex.length === 8) return wordText(hex)
  if (hex.length !== 32) return undefined
  const rest = hex.slice(24)
  if (/^0{32}$/.test(hex)) return '0.0.0.0'
  return /^0{16}(0000FFFF|FFFF0000)$/i.test(hex.slice(0, 24)) ? wordText(rest) : undefined
}

/** Every machine that a node runs on has its least significant byte first. */
function wordText(hex: string): string {
  const bytes = hex.match(/../g) ?? []
  return bytes
    .toReversed()
    .map((byte) => Number.parseInt(byte, 16))
    .join('.')
}
