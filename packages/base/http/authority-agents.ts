import type { Agent } from 'node:https'
import { RecentMap } from '../recent-map.ts'

/** One webhook's trust, and its place where one authority vouches for several. */
export interface AgentKey {
  /** A configuration's caBundle: PEM in base64. If omitted or empty, the system's authorities are trusted. */
  readonly caBundle?: string | undefined
  readonly place?: string
}

export interface AuthorityAgentsOptions {
  readonly agentsMax: number
  /** The message of the error about a bundle that is not PEM. */
  readonly notPem: string
}

/**
 * Keeps HTTPS agents, and thus their connections, by the authority that they trust. If there are too many,
 * the one that was used longest ago closes its connections.
 */
export class AuthorityAgents {
  readonly #agents: RecentMap<string, Agent>
  readonly #notPem: string

  constructor({ agentsMax, notPem }: AuthorityAgentsOptions) {
    this.#agents = new RecentMap(agentsMax, (agent) => agent.destroy())
    this.#notPem = notPem
  }

  /**
   * Returns the kept agent, or the one that `create` makes with the PEM of the trusted authorities. Throws
   * Error if the bundle is not PEM.
   */
  of({ caBundle = '', place = '' }: AgentKey, create: (ca: { ca?: string }) => Agent): Agent {
    const key = JSON.stringify([place, caBundle])
    const known = this.#agents.use(key)
    if (known) return known
    const agent = create(this.#trustOf(caBundle))
    this.#agents.set(key, agent)
    return agent
  }

  #trustOf(caBundle: string): { ca?: string } {
    const pem = Buffer.from(caBundle, 'base64').toString().trim()
    if (pem === '') return {}
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return { ca: pem }
    throw new Error(this.#notPem)
  }
}
