/** Makes two runs comparable: what every server chooses anew is named by its first appearance. */
export interface Normaliser {
  body(value: unknown): unknown
  headers(
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ): Record<string, string>
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const timestamp = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g
const token = /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]+/g
const serviceAddress = /\b10\.43\.\d{1,3}\.\d{1,3}\b/g
const loopback = /\b(127\.0\.0\.1|(?:\d{1,3}\.){3}\d{1,3}):\d{4,5}\b/g
/** Texts in which a resourceVersion stands. */
const versionTexts =
  /((?:resource ?version(?: in (?:precondition|object meta))?|current): |too old resource version: )(\d+)(?: \((\d+)\))?/gi

/** Those that a client acts upon; what is the same on every answer is written only where it differs. */
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

/** `written` is the script: what stands in it is no server's choice and is left as it is. */
export function createNormaliser(written: string): Normaliser {
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  const named = (kind: string, value: string): string => {
    const key = `${kind} ${value}`
    const found = names.get(key)
    if (found !== undefined) return found
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    const name = `<${kind}-${count}>`
    names.set(key, name)
    return name
  }
  const generated = new Map<string, string>()

  const text = (value: string): string => {
    let result = value
    const replace = (pattern: RegExp, by: (match: string) => string): void => {
      result = result.replaceAll(pattern, (match) => (written.includes(match) ? match : by(match)))
    }
    replace(token, () => '<token>')
    replace(uuid, (match) => named('uid', match))
    replace(timestamp, (match) => (match.includes('.') ? '<micro-time>' : '<time>'))
    replace(serviceAddress, (match) => named('ip', match))
    replace(loopback, () => '<address>')
    result = result.replaceAll(
      versionTexts,
      (_all, before: string, first: string, second?: string) => {
        const end = second === undefined ? '' : ' (<version>)'
        return `${before}${written.includes(first) ? first : '<version>'}${end}`
      },
    )
    for (const [name, replacement] of generated) result = result.replaceAll(name, replacement)
    return result
  }

  const meta = (source: Fields, isList: boolean): Fields => {
    const { generateName, name, resourceVersion } = source
    const isGenerated = typeof generateName === 'string' && typeof name === 'string'
    if (isGenerated && name.startsWith(generateName) && !generated.has(name)) {
      if (!written.includes(name)) generated.set(name, `${generateName}${named('suffix', name)}`)
    }
    const result = object(source)
    if (typeof resourceVersion === 'string' && resourceVersion !== '') {
      result['resourceVersion'] = isList ? '<list-version>' : named('version', resourceVersion)
    }
    if (isList && typeof source['continue'] === 'string' && source['continue'] !== '') {
      result['continue'] = '<continue>'
    }
    return result
  }

  const object = (source: Fields): Fields => {
    const result: Fields = {}
    for (const [key, value] of Object.entries(source)) {
      if (key === 'metadata' && isFields(value)) result[key] = meta(value, isListOf(source))
      else if (key === 'resourceVersion' && typeof value === 'string' && value !== '')
        result[key] = written.includes(value) ? value : named('version', value)
      else if (/[nN]odePort$/.test(key) && typeof value === 'number')
        result[key] =
          written.includes(String(value)) || value === 0 ? value : named('port', String(value))
      else result[text(key)] = any(value)
    }
    return result
  }

  const any = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(any)
    if (!isFields(value)) return value
    if (value['type'] === 'BOOKMARK' && isFields(value['object'])) return bookmark(value, object)
    if (value['kind'] === 'Table') return table(object(value))
    return object(value)
  }

  return {
    body: any,
    headers(headers) {
      const result: Record<string, string> = {}
      for (const name of comparedHeaders) {
        const values = [headers[name] ?? []].flat()
        if (values.length > 0) result[name] = values.map(text).join('; ')
      }
      if (headers['audit-id'] === undefined) result['audit-id'] = 'absent'
      if (result['cache-control'] === 'no-cache, private') delete result['cache-control']
      return result
    },
  }
}

type Fields = Record<string, unknown>

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A list's version is the store's, which others move on at any time. */
function isListOf(object: Fields): boolean {
  return 'items' in object || object['kind'] === 'Table'
}

function bookmark(event: Fields, normalise: (source: Fields) => Fields): Fields {
  const result = normalise(event)
  const inner = result['object']
  if (isFields(inner) && isFields(inner['metadata']))
    inner['metadata']['resourceVersion'] = '<list-version>'
  return result
}

/** Ages in cells go on while a script runs. */
function table(source: Fields): Fields {
  const { rows } = source
  if (!Array.isArray(rows)) return source
  for (const row of rows) {
    if (!isFields(row) || !Array.isArray(row['cells'])) continue
    row['cells'] = row['cells'].map((cell: unknown) =>
      typeof cell === 'string' ? cell.replaceAll(/\b\d+(\.\d+)?(s|ms)\b/g, '<age>') : cell,
    )
  }
  return source
}
