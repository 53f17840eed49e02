import { readFile } from 'node:fs/promises'
import type { Clock } from '@skerry/base'
import { clientLimits } from './client-limits.ts'

/** Who the client is. Certificate and key are PEM. */
export interface ClientCredentials {
  readonly bearerToken?: string
  readonly certificate?: string
  readonly key?: string
}

/** Asked before each request; answers from memory while what it has is fresh. */
export interface CredentialSource {
  (signal: AbortSignal): Promise<ClientCredentials>
  /** The server has answered 401 to these: what is kept of them is asked for anew. Absent: nothing else would come. */
  readonly onRefused?: (refused: ClientCredentials) => void
}

export function fixedCredentials(credentials: ClientCredentials): CredentialSource {
  return () => Promise.resolve(credentials)
}

/** A token that somebody else rotates in a file, as the kubelet does for pods. */
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
