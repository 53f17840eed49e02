import { readClientCertificate } from '@skerry/pki'
import type { ApiRequest } from '@skerry/apiserver'
import { gatewayBounds } from '../limits-table.ts'

/** The opener of a tunnel: the facts from its handshake, and those that the hub observed. */
export interface AgentFacts {
  /** The agent's name for its machine or pod; null if it sent none. */
  readonly host: string | null
  /** The source address as the hub sees it: that of a NAT or proxy if one is in between. */
  readonly address: string
  /** The version of its program; null if it sent none. */
  readonly version: string | null
  /** The expiry of the certificate that opened the tunnel (RFC 3339); null if it came without one. */
  readonly certificateExpires: string | null
}

const hostHeader = 'skerry-agent-host'
const versionHeader = 'skerry-agent-version'
const { textCharsMax } = gatewayBounds.agentFacts

/** Returns the headers of an agent's handshake. A name that does not fit a header is left out. */
export function agentHeaders(host: string, version: string): Record<string, string> {
  const said = { [hostHeader]: host, [versionHeader]: version }
  return Object.fromEntries(Object.entries(said).filter(([, text]) => textOf(text) !== null))
}

/** Reads the facts, which the agent sends and people see, so they are bounded. */
export function agentFactsOf({ headers, peer }: ApiRequest): AgentFacts {
  const isSocket = peer.type === 'socket'
  const [certificate] = isSocket ? peer.certificates : []
  return {
    host: textOf(headers[hostHeader]),
    address: isSocket ? peer.address : '',
    version: textOf(headers[versionHeader]),
    certificateExpires: certificate
      ? new Date(readClientCertificate(certificate).notAfterMs).toISOString()
      : null,
  }
}

/** Returns null unless the text is plain and short. */
function textOf(text: string | undefined): string | null {
  const isPlain = text !== undefined && text.length <= textCharsMax && /^[\x21-\x7e]+$/.test(text)
  return isPlain ? text : null
}
