import { messageOf, systemClock, ExpectedError, exitCodes } from '@skerry/base'
import { createHttpsTransport, readBody, type CredentialSource } from '@skerry/client'

export interface HubAsker {
  /** The hub's URL, https://host:port. */
  readonly hub: string
  /** PEM. If omitted, the authorities of the system. */
  readonly ca: string | undefined
  /** If omitted, the request is anonymous. */
  readonly credentials?: CredentialSource
}

/** Resolves with the answer to GET of a path of the hub itself. Throws ExpectedError if there is none. */
export async function getFromHub(
  { hub, ca, credentials }: HubAsker,
  path: string,
  signal: AbortSignal,
): Promise<{ status: number; text: string }> {
  using transport = createHttpsTransport(
    {
      server: hubOrigin(hub),
      ...(ca === undefined ? {} : { certificateAuthority: ca }),
      ...(credentials ? { credentials } : {}),
    },
    { clock: systemClock },
  )
  const request = { method: 'GET', path, headers: {} } as const
  const answer = await transport.send(request, signal).catch((error: unknown) => {
    // The credential source has already written its message for people.
    if (error instanceof ExpectedError) throw error
    const why = messageOf(error)
    throw new ExpectedError(
      `Cannot reach hub ${hub}: ${why}; is the address right, and --ca-file the hub's pki/ca.crt?`,
      exitCodes.failure,
      { cause: error },
    )
  })
  return { status: answer.status, text: (await readBody(answer.body)).toString('utf8') }
}

/** Returns the address up to host and port. Throws ExpectedError if it is not an https:// address. */
export function hubOrigin(hub: string): string {
  if (URL.canParse(hub) && new URL(hub).protocol === 'https:') return new URL(hub).origin
  throw new ExpectedError(
    `Cannot ask hub: "${hub}" is not an https:// address, e.g. https://hub.example.com:7443`,
    exitCodes.usage,
  )
}
