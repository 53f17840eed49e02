import { isJsonObject } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import { readBody } from '@skerry/client'
import type { AdminCluster } from './admin-cluster.ts'

/** A way into the web console for the owner of a kubeconfig. */
export interface ConsoleLink {
  readonly address: string
  /** The address with a login code, which is good once. It is a secret. */
  readonly link: string
  /** RFC 3339. */
  readonly expiresAt: string
}

/** Returns the console's address at the hub of this server address. */
export function consoleAddress(server: string): string {
  return `${new URL(server).origin}/console/`
}

/** Makes a login code at the hub, as the user of the kubeconfig. Throws ExpectedError. */
export async function makeConsoleLink(
  { cluster, server }: Pick<AdminCluster, 'cluster' | 'server'>,
  signal: AbortSignal,
): Promise<ConsoleLink> {
  const path = '/hub/v1/session/codes'
  const answer = await cluster.raw({ method: 'POST', path, headers: {} }, signal)
  const text = (await readBody(answer.body)).toString('utf8')
  const value = parsed(text)
  const { code, expiresAt, message } = value
  if (answer.status === 201 && typeof code === 'string' && typeof expiresAt === 'string') {
    const address = consoleAddress(server)
    return { address, link: `${address}#code=${encodeURIComponent(code)}`, expiresAt }
  }
  const why = typeof message === 'string' ? message : `it answered with status ${answer.status}`
  throw new ExpectedError(
    `Cannot make a link to the console of ${server}: ${why}`,
    exitCodes.failure,
  )
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch {
    // Some other server's page.
    return {}
  }
}
