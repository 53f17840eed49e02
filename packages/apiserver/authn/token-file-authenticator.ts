import { createHash } from 'node:crypto'
import type { UserInfo } from '../contract/access.ts'
import { configError } from '../config-file/config-shape.ts'
import type { TokenAuthenticator } from './token-authenticator.ts'

/**
 * Reads kube-apiserver's token file once: lines of `token,user,uid` and optionally
 * `"group1,group2"`. The uid may be empty. Throws ExpectedError.
 */
export function createTokenFileAuthenticator(text: string): TokenAuthenticator {
  // Keyed by digest, so that the lookup time reveals nothing about the tokens.
  const users = new Map<string, UserInfo>()
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [token = '', name = '', uid, groups = ''] = cells(line)
    if (token === '' || name === '' || uid === undefined) {
      throw configError('token file', `line ${at + 1}: expected token, user name and user id`)
    }
    const listed = groups.split(',').map((group) => group.trim())
    users.set(digestOf(token), {
      name,
      uid,
      groups: listed.filter((group) => group !== ''),
      extra: {},
    })
  }
  return {
    async authenticateToken(token, audiences) {
      const user = users.get(digestOf(token))
      return user && { user, audiences }
    },
  }
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}

/** Splits one line of CSV (RFC 4180): a quoted cell may contain commas, and a quote in it is doubled. */
function cells(line: string): string[] {
  const found = `,${line}`.matchAll(/,\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?=,|$)/g)
  return [...found].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim())
}
