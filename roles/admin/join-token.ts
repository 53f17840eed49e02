import { ExpectedError, exitCodes, systemRandom, type Clock, type Random } from '@skerry/base'
import { bootstrapTokenText, newBootstrapToken, publishBootstrapToken } from '@skerry/bootstrap'
import type { ClusterClient } from '@skerry/client'
import { spkiHash } from '@skerry/pki'

/**
 * It is re-exported from here, because a dynamic import of a whole package would keep all of it in the
 * program's bundle.
 */
export { parseDurationMs } from '@skerry/api'

export interface JoinTokenOptions {
  /** The URL https://host:port that the new machine will dial. */
  server: string
  caPem: string
  ttlSeconds: number
  description: string
  /** The groups of the token's user. If omitted, those of a new node. */
  groups?: readonly string[]
}

export interface JoinToken {
  server: string
  token: string
  caHash: string
  /** Milliseconds since the Unix epoch. */
  expiresAtMs: number
}

/** Creates a token with which one more machine may join, and everything else that the machine needs. */
export async function createJoinToken(
  cluster: ClusterClient,
  options: JoinTokenOptions,
  { clock, random = systemRandom }: { clock: Clock; random?: Random },
  signal: AbortSignal,
): Promise<JoinToken> {
  if (options.ttlSeconds < 1) {
    throw new ExpectedError(
      'Cannot create token: it must live for at least a second',
      exitCodes.usage,
    )
  }
  const token = newBootstrapToken(random)
  const expiresAtMs = clock.now() + options.ttlSeconds * 1_000
  await publishBootstrapToken(
    cluster,
    {
      token,
      expiresAtMs,
      description: options.description,
      ...(options.groups === undefined ? {} : { groups: options.groups }),
      info: { server: options.server, authorityPem: options.caPem },
    },
    { clock },
    signal,
  )
  return {
    server: options.server,
    token: bootstrapTokenText(token),
    caHash: spkiHash(options.caPem),
    expiresAtMs,
  }
}
