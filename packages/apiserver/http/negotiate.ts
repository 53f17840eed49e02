import { StatusError } from '@skerry/api'

export interface AcceptClause {
  /** Lower case, e.g. application/json, or a wildcard. */
  readonly type: string
  readonly params: Readonly<Record<string, string>>
}

/** What the client wants to read: the encoding, and the shape of an object or list. */
export interface Representation {
  readonly encoding: 'json' | 'yaml'
  /** `object`: the kind itself. */
  readonly as: 'object' | 'table' | 'partial'
  readonly isPretty: boolean
}

const plainJson: Representation = Object.freeze({ encoding: 'json', as: 'object', isPretty: false })
const clausesMax = 32

/** Clauses in order of preference; the client's own order where q is equal. */
export function parseAccept(header: string): AcceptClause[] {
  return header
    .split(',', clausesMax)
    .map((text) => {
      const [type = '', ...rest] = text.split(';').map((part) => part.trim())
      const params: Record<string, string> = {}
      for (const param of rest) {
        const at = param.indexOf('=')
        if (at > 0) params[param.slice(0, at)] = param.slice(at + 1)
      }
      return { type: type.toLowerCase(), params }
    })
    .filter(({ type }) => type !== '')
    .toSorted((a, b) => Number(b.params['q'] ?? 1) - Number(a.params['q'] ?? 1))
}

/** Throws StatusError NotAcceptable when nothing that the client accepts can be made. */
export function negotiate(accept: string | undefined, isPretty: boolean): Representation {
  if (accept === undefined || accept === '' || accept === 'application/json') {
    return isPretty ? { ...plainJson, isPretty } : plainJson
  }
  for (const clause of parseAccept(accept)) {
    const encoding = encodings[clause.type]
    if (encoding === undefined) continue
    const as = shapeOf(clause.params)
    if (as !== undefined) return { encoding, as, isPretty }
  }
  throw notAcceptable()
}

const encodings: Readonly<Record<string, Representation['encoding']>> = Object.freeze({
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/*': 'json',
  '*/*': 'json',
})

function shapeOf({ as, g, v }: Readonly<Record<string, string>>): Representation['as'] | undefined {
  if (as === undefined) return 'object'
  if (g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return undefined
  if (as === 'Table') return 'table'
  if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return 'partial'
  return undefined
}

export function notAcceptable(): StatusError {
  const available = 'application/json, application/yaml, application/json;stream=watch'
  return new StatusError(
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${available}`,
    { details: {} },
  )
}

/** curl and browsers get indented JSON, as does whoever asks with `pretty`. */
export function wantsPretty(query: URLSearchParams, userAgent: string | undefined): boolean {
  const asked = query.get('pretty')
  if (asked !== null) return asked !== 'false' && asked !== '0'
  return userAgent !== undefined && /^(?:curl|Wget|Mozilla)\b/.test(userAgent)
}
