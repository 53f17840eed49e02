import { StatusError } from '../status-error.ts'

/** One term of a field selector: `field=value` or `field!=value`. */
export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  /** Unescaped. */
  readonly value: string
}

/** Parses the `fieldSelector` parameter. Throws StatusError BadRequest with upstream's message. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return splitTerms(text)
    .toSorted()
    .filter((term) => term !== '')
    .map((term) => parseTerm(text, term))
}

/**
 * Returns true if all requirements hold. `valueOf` returns a field's value, or an empty text if
 * there is none.
 */
export function matchesFields(
  requirements: readonly FieldRequirement[],
  valueOf: (field: string) => string,
): boolean {
  for (const { field, operator, value } of requirements) {
    if ((valueOf(field) === value) !== (operator === '=')) return false
  }
  return true
}

/** Returns the value that every match must have, if the selector fixes the field to one. */
export function exactFieldValue(
  requirements: readonly FieldRequirement[],
  field: string,
): string | undefined {
  return requirements.find((item) => item.field === field && item.operator === '=')?.value
}

export function printFieldSelector(requirements: readonly FieldRequirement[]): string {
  return requirements
    .map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`)
    .join(',')
}

function escapeFieldValue(value: string): string {
  return value.replaceAll(/[\\,=]/g, (char) => `\\${char}`)
}

function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === ',') {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function parseTerm(text: string, term: string): FieldRequirement {
  const match = /!=|==?/.exec(term)
  if (!match) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
  const [operator] = match
  return {
    field: term.slice(0, match.index),
    operator: operator === '!=' ? '!=' : '=',
    value: unescape(term.slice(match.index + operator.length)),
  }
}

function unescape(escaped: string): string {
  if (!/[\\,=]/.test(escaped)) return escaped
  let value = ''
  for (let at = 0; at < escaped.length; at += 1) {
    const char = escaped[at] ?? ''
    if (char === ',' || char === '=') {
      const code = char.charCodeAt(0)
      throw badRequest(`invalid field selector: unescaped character in value: ${code}`)
    }
    if (char !== '\\') {
      value += char
      continue
    }
    at += 1
    const next = escaped[at] ?? ''
    if (next !== '\\' && next !== ',' && next !== '=') {
      throw badRequest(`invalid field selector: invalid escape sequence: \\${next}`)
    }
    value += next
  }
  return value
}

function badRequest(message: string): StatusError {
  return new StatusError('BadRequest', message)
}
