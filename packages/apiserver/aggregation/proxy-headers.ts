import type { UserInfo } from '../contract/access.ts'

/** Returns true for headers that only a front proxy may set; those of a client are dropped. */
export function isIdentityHeader(name: string): boolean {
  return name.startsWith('x-remote-')
}

/**
 * Returns the headers with which a front proxy names the user to the server behind it, under
 * upstream's default names.
 */
export function identityHeaders(user: UserInfo): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'X-Remote-User': wire(user.name) }
  if (user.uid !== undefined && user.uid !== '') headers['X-Remote-Uid'] = wire(user.uid)
  if (user.groups.length > 0) headers['X-Remote-Group'] = user.groups.map(wire)
  for (const [key, values] of Object.entries(user.extra)) {
    if (values.length > 0) headers[`X-Remote-Extra-${escapeKey(key)}`] = values.map(wire)
  }
  return headers
}

/** HTTP/1 headers are bytes, so names beyond ASCII are sent as UTF-8. */
function wire(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** Bytes that a header name cannot hold (RFC 9110, section 5.6.2), and the escape itself. */
function escapeKey(key: string): string {
  return [...Buffer.from(key, 'utf8')]
    .map((byte) => {
      const char = String.fromCharCode(byte)
      const isPlain = /[!#$&'*+\-.^_`|~0-9A-Za-z]/.test(char)
      return isPlain ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}
