import { comparableOpenApi, isOpenApi } from './open-api-answer.ts'

/** Makes two runs comparable: values that every server chooses itself are named by their first appearance. */
export interface Normaliser {
  body(value: unknown): unknown
  headers(
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ): Record<string, string>
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const timestamp = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g
const token = /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]+/g
const tokenVolume = /\bkube-api-access-[a-z0-9]{5}\b/g
const credentialId = /\bX509SHA256=[0-9a-f]{64}\b/g
const serviceAddress = /\b10\.43\.\d{1,3}\.\d{1,3}\b/g
const loopback = /\b(127\.0\.0\.1|(?:\d{1,3}\.){3}\d{1,3}):\d{4,5}\b/g
/** Matches texts that contain a resourceVersion. */
const versionTexts =
  /((?:resource ?version(?: in (?:precondition|object meta))?|current): |too old resource version: )(\d+)(?: \((\d+)\))?/gi

const recordTexts = /(ResourceVersion in record )\(\d+\)/g

/** The headers on which clients act; those that are equal on every answer are written only if they differ. */
const comparedHeaders = [
  'allow',
  'cache-control',
  'content-type',
  'location',
  'retry-after',
  'vary',
  'warning',
  'www-authenticate',
  'x-content-type-options',
]

/**
 * Creates a normaliser. `written` is the script: values in it are not chosen by a server and stay as they
 * are.
 */
export function createNormaliser(written: string): Normaliser {
  const run = new NamedChoices(written)
  return {
    body: (value) => run.anything(value),
    headers(headers) {
      const result: Record<string, string> = {}
      for (const name of comparedHeaders) {
        const values = [headers[name] ?? []].flat()
        if (values.length > 0) result[name] = values.map((each) => run.text(each)).join('; ')
      }
      if (headers['audit-id'] === undefined) result['audit-id'] = 'absent'
      if (result['cache-control'] === 'no-cache, private') delete result['cache-control']
      return result
    },
  }
}

class NamedChoices {
  readonly #written: string
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #generated = new Map<string, string>()

  constructor(written: string) {
    this.#written = written
  }

  anything(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.anything(item))
    if (!isFields(value)) return value
    if (isOpenApi(value)) return comparableOpenApi(value)
    const result = this.#object(value)
    if (value['type'] === 'BOOKMARK') return withoutVersion(result)
    if (value['kind'] === 'Table') return comparableTable(result)
    return result
  }

  text(value: string): string {
    let result = value
    const replace = (pattern: RegExp, by: (match: string) => string): void => {
      result = result.replaceAll(pattern, (match) => (this.#isWritten(match) ? match : by(match)))
    }
    replace(token, () => '<token>')
    replace(uuid, (match) => this.#name('uid', match))
    replace(timestamp, (match) => (match.includes('.') ? '<micro-time>' : '<time>'))
    replace(credentialId, () => 'X509SHA256=<hash>')
    replace(tokenVolume, () => 'kube-api-access-<suffix>')
    replace(serviceAddress, (match) => this.#name('ip', match))
    replace(loopback, () => '<address>')
    result = result.replaceAll(versionTexts, (_all, before: string, first: string, second = '') => {
      const end = second === '' ? '' : ' (<version>)'
      return `${before}${this.#isWritten(first) ? first : '<version>'}${end}`
    })
    result = result.replaceAll(recordTexts, '$1(<version>)')
    for (const [name, by] of this.#generated) result = result.replaceAll(name, by)
    return result
  }

  #object(source: Fields): Fields {
    const result: Fields = {}
    for (const [key, value] of Object.entries(source)) {
      if (key === 'metadata' && isFields(value)) result[key] = this.#meta(value, isListOf(source))
      else if (key === 'resourceVersion' && value !== '')
        result[key] = this.#choice('version', value)
      else if (key === 'managedFields' && Array.isArray(value)) result[key] = this.#owners(value)
      else if (/[nN]odePort$/.test(key) && value !== 0) result[key] = this.#choice('port', value)
      else result[this.text(key)] = this.anything(value)
    }
    return result
  }

  #meta(source: Fields, isList: boolean): Fields {
    const { generateName, name } = source
    if (typeof generateName === 'string' && typeof name === 'string' && !this.#isWritten(name)) {
      const suffix = name.startsWith(generateName) ? this.#name('suffix', name) : ''
      if (suffix !== '') this.#generated.set(name, `${generateName}${suffix}`)
    }
    // A list's version is not named: it would be counted among the objects'.
    const { resourceVersion: _version, ...others } = source
    const result = this.#object(isList ? others : source)
    if (isList && source['resourceVersion']) result['resourceVersion'] = '<list-version>'
    if (isList && source['continue']) result['continue'] = '<continue>'
    return result
  }

  /** Orders owners by key. Upstream sorts them by time, and a second may begin between two writes. */
  #owners(entries: readonly unknown[]): unknown[] {
    const keyOf = (entry: unknown): string => {
      if (!isFields(entry)) return ''
      const { operation, manager, apiVersion, subresource } = entry
      return JSON.stringify([operation, manager, apiVersion, subresource])
    }
    return entries
      .map((entry) => withoutTie(this.anything(entry)))
      .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  }

  #choice(kind: string, value: unknown): unknown {
    if (typeof value !== 'string' && typeof value !== 'number') return value
    // A small number occurs in many places of a script where it is not a version.
    const isWritten =
      kind === 'version'
        ? new RegExp(`resourceVersion["']?[:=] *["']?${value}\\b`).test(this.#written)
        : this.#isWritten(`${value}`)
    return isWritten ? value : this.#name(kind, `${value}`)
  }

  #name(kind: string, value: string): string {
    const key = `${kind} ${value}`
    const found = this.#names.get(key)
    if (found !== undefined) return found
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const name = `<${kind}-${count}>`
    this.#names.set(key, name)
    return name
  }

  #isWritten(value: string): boolean {
    return this.#written.includes(value)
  }
}

type Fields = Record<string, unknown>

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Drops the ownership of a time that may belong to either write: the server moves the condition from one
 * state to the next at once, so the owner of its time depends on whether a second begins between the two.
 */
function withoutTie(entry: unknown): unknown {
  const terminating = ['fieldsV1', 'f:status', 'f:conditions', 'k:{"type":"Terminating"}']
  const owned = terminating.reduce<unknown>(
    (value, key) => (isFields(value) ? value[key] : undefined),
    entry,
  )
  if (isFields(owned) && !('.' in owned)) delete owned['f:lastTransitionTime']
  return entry
}

/** A list's version is the store's, which others move on at any time. */
function isListOf(object: Fields): boolean {
  return 'items' in object || object['kind'] === 'Table'
}

/** A bookmark's version is the store's, too. */
function withoutVersion(event: Fields): Fields {
  const { object } = event
  if (!isFields(object) || !isFields(object['metadata'])) return event
  object['metadata']['resourceVersion'] = '<list-version>'
  return event
}

/** The ages of objects created just now, and of dates that a script names. */
const ages = /\b(\d+(\.\d+)?(s|ms)|(\d+y)?\d+d|\d+y)\b/g

/**
 * Normalises a Table: ages in cells advance while a script runs, and column descriptions are upstream's own
 * sentences.
 */
function comparableTable(table: Fields): Fields {
  const { rows, columnDefinitions } = table
  for (const column of Array.isArray(columnDefinitions) ? columnDefinitions : []) {
    if (isFields(column) && column['description']) column['description'] = '<text>'
  }
  if (!Array.isArray(rows)) return table
  for (const row of rows) {
    if (!isFields(row) || !Array.isArray(row['cells'])) continue
    row['cells'] = row['cells'].map((cell: unknown) =>
      typeof cell === 'string' ? cell.replaceAll(ages, '<age>') : cell,
    )
  }
  return table
}
