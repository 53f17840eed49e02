import { readFile } from 'node:fs/promises'
import { ExpectedError, exitCodes, messageOf, type ProxyLogin } from '@skerry/base'

/**
 * Reads `user:password` from the first line; a password may contain colons, a user may not (RFC 7617, 2). Rejects with
 * an ExpectedError that does not show it.
 */
export async function readProxyLogin(path: string): Promise<ProxyLogin> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw unusable(path, messageOf(cause), { cause })
  })
  const [, user, password] = /^([^:\r\n]+):([^\r\n]*)/.exec(text) ?? []
  if (user !== undefined && password !== undefined) return { user, password }
  throw unusable(path, 'its first line is not user:password')
}

function unusable(path: string, why: string, options?: ErrorOptions): ExpectedError {
  const text = `Cannot use --proxy-credentials-file ${path}: ${why}`
  return new ExpectedError(text, exitCodes.usage, options)
}
