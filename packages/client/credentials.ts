import { readFile } from 'node:fs/promises'
import type { Clock } from '@skerry/base'
import { clientLimits } from './limits-table.ts'

/** The client's credentials. The certificate and key are PEM. */
export interface ClientCredentials {
  readonly bearerToken?: string
  readonly certificate?: string
  readonly key?: string
}

/** Called before each request. Answers from memory while its credentials are fresh. */
export interface CredentialSource {
  (signal: AbortSignal): Promise<ClientCredentials>
  /**
   * Called when the server has answered 401 to these credentials; cached ones are then fetched
   * again. Omitted if there are no others.
   */
  readonly onRefused?: (refused: ClientCredentials) => void
}

export function fixedCredentials(credentials: ClientCredentials): CredentialSource {
  return () => Promise.resolve(credentials)
}

/** Reads a token from a file in which another program rotates it, as the kubelet does for pods. */
export function tokenFileCredentials(path: string, clock: Clock): CredentialSource {
  let cached: { bearerToken: string; readAtMs: number } | undefined
  return async (signal) => {
    const nowMs = clock.monotonicMs()
    if (!cached || nowMs - cached.readAtMs > clientLimits.tokenFileMaxAgeMs) {
      const text = await readFile(path, { encoding: 'utf8', signal })
      cached = { bearerToken: text.trim(), readAtMs: nowMs }
    }
    return { bearerToken: cached.bearerToken }
  }
}
