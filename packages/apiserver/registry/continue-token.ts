import { badRequest } from './registry-errors.ts'

/** Where a list goes on: after this key, as of this revision. */
export interface ContinueToken {
  readonly revision: number
  readonly after: string
}

const tokenVersion = 'meta.k8s.io/v1'

/** Upstream's start is inclusive: the first key after one is that key and a zero. */
const keyEnd = '\0'

export function encodeContinue({ revision, after }: ContinueToken): string {
  const text = JSON.stringify({ v: tokenVersion, rv: revision, start: `${after}${keyEnd}` })
  return Buffer.from(text).toString('base64url')
}

export function parseContinue(text: string): ContinueToken {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (typeof value === 'object' && value !== null && 'rv' in value && 'start' in value) {
      const { rv, start } = value
      if (typeof rv === 'number' && rv > 0 && typeof start === 'string') {
        return { revision: rv, after: start.endsWith(keyEnd) ? start.slice(0, -1) : start }
      }
    }
  } catch (error) {
    throw badRequest(
      `invalid continue token: continue key is not valid: ${error instanceof Error ? error.message : ''}`,
    )
  }
  throw badRequest(
    'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion or key',
  )
}
