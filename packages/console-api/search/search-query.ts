import { StatusError } from '@skerry/api'
import { consoleBounds } from '../limits-table.ts'
import { limitIn, requireKnown } from '../request/query-checks.ts'

/** A user's question to all clusters. */
export interface SearchQuery {
  /** A part of the name, in lower case; or a label selector, which has an equals sign. */
  readonly text: string
  readonly isSelector: boolean
  /** Kinds as `v1/pods` or `apps/v1/deployments`. */
  readonly kinds: readonly string[]
  /** The number of objects in the whole answer. */
  readonly limit: number
}

const bounds = consoleBounds.searchRoute
const kindsDefault = Object.freeze(['v1/pods', 'apps/v1/deployments', 'v1/services'])
const parameters = new Set(['q', 'kinds', 'limit'])

/** Throws BadRequest. */
export function readSearchQuery(query: URLSearchParams): SearchQuery {
  requireKnown(query, parameters, refused)
  const text = (query.get('q') ?? '').trim()
  if (text.length < bounds.textCharsMin || text.length > bounds.textCharsMax) {
    throw refused(`q must have ${bounds.textCharsMin} to ${bounds.textCharsMax} characters`)
  }
  const isSelector = text.includes('=')
  return {
    text: isSelector ? text : text.toLowerCase(),
    isSelector,
    kinds: kindsOf(query.get('kinds') ?? ''),
    limit: limitIn(query, bounds, refused),
  }
}

const kind = /^(?:[a-z][-a-z0-9.]{0,252}\/)?v[a-z0-9]{1,30}\/[a-z][-a-z0-9]{0,62}$/

function kindsOf(text: string): readonly string[] {
  if (text === '') return kindsDefault
  const kinds = [...new Set(text.split(',', bounds.kindsMax + 1))]
  if (kinds.length > bounds.kindsMax) throw refused(`it has over ${bounds.kindsMax} kinds`)
  const wrong = kinds.find((each) => !kind.test(each))
  if (wrong === undefined) return kinds
  throw refused(`"${wrong.slice(0, 64)}" is not a kind like v1/pods or apps/v1/deployments`)
}

function refused(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot search: ${why}`)
}
