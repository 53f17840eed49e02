import { isJsonObject, type StatusError } from '@skerry/api'
import { jsonSyntaxError } from '@skerry/bodies'
import { badRequest } from './registry-errors.ts'

/** Where a list continues: after this key, as of this revision. */
export interface ContinueToken {
  readonly revision: number
  readonly after: string
}

const tokenVersion = 'meta.k8s.io/v1'

/** Upstream's start is inclusive: the first key after a key is that key followed by a zero byte. */
const keyEnd = '\0'

export function encodeContinue({ revision, after }: ContinueToken): string {
  const text = JSON.stringify({ v: tokenVersion, rv: revision, start: `${after}${keyEnd}` })
  return Buffer.from(text).toString('base64url')
}

/** With `anyRevision` the list continues in its current state. Throws StatusError BadRequest. */
export function parseContinue(text: string): ContinueToken {
  const { v, rv, start } = fieldsOf(decoded(text))
  if (v !== tokenVersion) throw invalidToken(`server does not recognize this encoded version ${v}`)
  if (rv === 0) {
    throw invalidToken(`incorrect encoded start resourceVersion (version ${tokenVersion})`)
  }
  if (start === '') throw invalidToken(`encoded start key empty (version ${tokenVersion})`)
  // A key with `..` would leave the resource that the path was authorized for.
  if (start.split('/').some((part) => part === '..' || part === '.')) throw invalidToken(start)
  return {
    revision: rv < 0 ? anyRevision : rv,
    after: start.endsWith(keyEnd) ? start.slice(0, -1) : start,
  }
}

export const anyRevision = -1

function fieldsOf(json: string): { v: string; rv: number; start: string } {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw invalidToken(jsonSyntaxError(json))
  }
  if (!isJsonObject(value)) {
    throw invalidToken(
      `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type storage.continueToken`,
    )
  }
  const { v = '', rv = 0, start = '' } = value
  if (typeof v === 'string' && Number.isSafeInteger(rv) && typeof start === 'string') {
    return { v, rv: Number(rv), start }
  }
  throw invalidToken('json: cannot unmarshal the token into Go struct field continueToken')
}

/** Decodes unpadded base64url, and names the first wrong byte. */
function decoded(text: string): string {
  const wrong = /[^A-Za-z0-9_-]/.exec(text)?.index
  const rest = text.length % 4
  const at = wrong ?? (rest === 1 ? text.length - rest : undefined)
  if (at !== undefined) throw invalidToken(`illegal base64 data at input byte ${at}`)
  return Buffer.from(text, 'base64url').toString()
}

function invalidToken(why: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`)
}
