import { StatusError } from '@skerry/api'
import { apiServerBounds } from '../limits-table.ts'

export interface AcceptClause {
  /** A media type such as application/json, or a wildcard. */
  readonly type: string
  readonly params: Readonly<Record<string, string>>
}

export type Encoding = 'json' | 'yaml' | 'protobuf'

/** The form that the client wants: the encoding, and the shape of an object or list. */
export interface Representation {
  readonly encoding: Encoding
  /** The shape; `object` is the kind itself. */
  readonly as: 'object' | 'table' | 'partial'
  /** With `partial`: true if the client named the list rather than its item. */
  readonly isList: boolean
  readonly isPretty: boolean
}

/** The forms that one endpoint can produce. */
export interface Offer {
  readonly encodings: readonly Encoding[]
  /** Whether the answer is one object, a list that may also be watched, or a watch. */
  readonly of: 'object' | 'list' | 'watch'
  /** True for resources, which also have Tables and metadata-only forms. */
  readonly hasShapes: boolean
  /** Built-in kinds check the bare media type first; custom ones do not. */
  readonly isRouted: boolean
  /** Default: false, a Table is possible like the other shapes. */
  readonly hasNoTable?: boolean
}

export const objectOffer: Offer = Object.freeze({
  encodings: Object.freeze(['json', 'yaml', 'protobuf'] as const),
  of: 'object',
  hasShapes: true,
  isRouted: true,
})

/** Reviews are answered and never stored, so they have no Table. */
export const reviewOffer: Offer = Object.freeze({ ...objectOffer, hasNoTable: true })

/** Statuses and documents have only their own shape. */
export const plainOffer: Offer = Object.freeze({ ...objectOffer, hasShapes: false })

/** Custom resources have no protobuf messages. */
export const customOffer: Offer = Object.freeze({
  ...objectOffer,
  encodings: Object.freeze(['json', 'yaml'] as const),
  isRouted: false,
})

export const jsonOffer: Offer = Object.freeze({
  ...plainOffer,
  encodings: Object.freeze(['json'] as const),
})

const plainJson: Representation = Object.freeze({
  encoding: 'json',
  as: 'object',
  isList: false,
  isPretty: false,
})
const { clausesMax } = apiServerBounds.negotiate

/**
 * Returns the clauses in order of preference: by q, exact types before wildcards, then the client's
 * own order.
 */
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
      return { type, params }
    })
    .filter(({ type }) => type !== '')
    .toSorted(
      (a, b) =>
        Number(b.params['q'] ?? 1) - Number(a.params['q'] ?? 1) ||
        Number(a.type.includes('*')) - Number(b.type.includes('*')),
    )
}

/** Throws StatusError NotAcceptable if none of the accepted forms is possible. */
export function negotiate(
  accept: string | undefined,
  isPretty: boolean,
  offer: Offer = objectOffer,
): Representation {
  if (accept === undefined || accept === '' || accept === 'application/json') {
    return isPretty ? { ...plainJson, isPretty } : plainJson
  }
  const clauses = parseAccept(accept)
  if (!isAnyRouted(clauses, offer)) throw notAcceptable(offer)
  for (const clause of clauses) {
    const encoding = encodingOf(clause.type, offer)
    if (encoding === undefined) continue
    const shape = shapeOf(clause.params, encoding, offer)
    if (shape === undefined) continue
    const { pretty } = clause.params
    return { encoding, ...shape, isPretty: pretty === undefined ? isPretty : pretty === '1' }
  }
  throw noneAccepted(offer)
}

/** Does not throw; for the encoding of errors themselves. */
export function negotiateOrNone(
  accept: string | undefined,
  isPretty: boolean,
  offer: Offer,
): Representation | undefined {
  try {
    return negotiate(accept, isPretty, offer)
  } catch (error) {
    if (error instanceof StatusError) return undefined
    throw error
  }
}

const mediaTypes: Readonly<Record<Encoding, string>> = Object.freeze({
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
})

/** Returns false if upstream refuses an object of a built-in kind before it looks at the kind. */
export function isAcceptRouted(accept: string | undefined): boolean {
  return accept === undefined || accept === '' || isAnyRouted(parseAccept(accept), objectOffer)
}

function isAnyRouted(clauses: readonly AcceptClause[], offer: Offer): boolean {
  return clauses.some(({ type }) => isRouted(type, offer))
}

/** Upstream first accepts complete media types and the wildcard for all types, but none like `application/*`. */
function isRouted(type: string, { encodings, isRouted }: Offer): boolean {
  return !isRouted || type === '*/*' || encodings.some((encoding) => mediaTypes[encoding] === type)
}

function encodingOf(type: string, offer: Offer): Encoding | undefined {
  const found = streamable(offer).find((encoding) => mediaTypes[encoding] === type)
  if (found) return found
  return type === '*/*' || type === 'application/*' ? 'json' : undefined
}

/** YAML has no form for a stream of events. */
function streamable({ encodings, of }: Offer): readonly Encoding[] {
  return of === 'watch' ? encodings.filter((encoding) => encoding !== 'yaml') : encodings
}

type Shape = Pick<Representation, 'as' | 'isList'>

function shapeOf(
  { as, g, v, stream }: Readonly<Record<string, string>>,
  encoding: Encoding,
  { hasShapes, hasNoTable }: Offer,
): Shape | undefined {
  if (stream !== undefined && stream !== 'watch') return undefined
  if (as === undefined) return { as: 'object', isList: false }
  if (!hasShapes || g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return undefined
  if (as === 'Table' && encoding !== 'protobuf' && !hasNoTable)
    return { as: 'table', isList: false }
  if (as === 'PartialObjectMetadata') return { as: 'partial', isList: false }
  if (as === 'PartialObjectMetadataList') return { as: 'partial', isList: true }
  return undefined
}

function notAcceptable({ encodings, of }: Offer): StatusError {
  const types = encodings.map((encoding) => mediaTypes[encoding])
  const streams = encodings
    .filter((encoding) => encoding !== 'yaml')
    .map((encoding) => `${mediaTypes[encoding]};stream=watch`)
  const available = (of === 'object' ? types : [...types, ...streams]).join(', ')
  return new StatusError(
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${available}`,
    { details: {} },
  )
}

/** Upstream names protobuf even for custom resources, which have no messages. */
function noneAccepted({ of }: Offer): StatusError {
  const types = streamable({ ...objectOffer, of }).map((encoding) => mediaTypes[encoding])
  const shown = of === 'watch' ? types.map((type) => `${type};stream=watch`) : types
  return new StatusError(
    'NotAcceptable',
    `only the following media types are accepted: ${shown.join(', ')}`,
  )
}

/** curl and browsers get indented JSON, as do clients that ask with `pretty`. */
export function wantsPretty(query: URLSearchParams, userAgent: string | undefined): boolean {
  const asked = query.get('pretty')
  if (asked !== null) return asked !== 'false' && asked !== '0'
  return userAgent !== undefined && /^(?:curl|Wget|Mozilla)\b/.test(userAgent)
}
