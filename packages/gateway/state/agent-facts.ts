import { readClientCertificate } from '@skerry/pki'
import type { ApiRequest } from '@skerry/apiserver'

/** Who opened a tunnel: what its handshake said, and what the hub saw of it. */
export interface AgentFacts {
  /** As the agent calls its machine or pod; null where it does not say. */
  readonly host: string | null
  /** Where it comes from, as the hub sees it: a NAT's or proxy's where one is in between. */
  readonly address: string
  /** Of its program; null where it does not say. */
  readonly version: string | null
  /** RFC 3339, of the certificate that the tunnel was opened with; null: it came without. */
  readonly certificateExpires: string | null
}

const hostHeader = 'skerry-agent-host'
const versionHeader = 'skerry-agent-version'
const textCharsMax = 128

/** Headers of an agent's handshake. A name that a header cannot carry is not said. */
export function agentHeaders(host: string, version: string): Record<string, string> {
  const said = { [hostHeader]: host, [versionHeader]: version }
  return Object.fromEntries(Object.entries(said).filter(([, text]) => textOf(text) !== null))
}

/** Told by the agent, and so bounded: it is shown to people. */
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

/** Null for what is not plain, short text. */
function textOf(text: string | undefined): string | null {
  const isPlain = text !== undefined && text.length <= textCharsMax && /^[\x21-\x7e]+$/.test(text)
  return isPlain ? text : null
}
