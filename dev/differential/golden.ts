import type { Answer } from './run-script.ts'

const lineWidth = 120

/** Returns text that shows each change of an answer on a separate line. */
export function formatGolden(answers: readonly Answer[]): string {
  return answers.map(formatAnswer).join('\n')
}

export function parseGolden(text: string): Answer[] {
  const [, ...sections] = text.split(/^### /m)
  return sections.map((section) => {
    const [head = '', ...rest] = section.split('\n\n')
    const [name = '', statusLine = '', ...headerLines] = head.split('\n')
    const [status = '', ...type] = statusLine.split(' ')
    const headers: Record<string, string> = {}
    if (type.length > 0) headers['content-type'] = type.join(' ')
    for (const line of headerLines.filter((each) => each !== '')) {
      const colon = line.indexOf(': ')
      headers[line.slice(0, colon)] = line.slice(colon + 2)
    }
    const body = rest.join('\n\n').trim()
    const parsed: { body?: unknown } = body === '' ? {} : { body: JSON.parse(body) }
    return { name, status: Number(status), headers, body: parsed.body }
  })
}

function formatAnswer({ name, status, headers, body }: Answer): string {
  const { 'content-type': type, ...others } = headers
  const lines = [`### ${name}`, type === undefined ? String(status) : `${status} ${type}`]
  for (const [header, value] of Object.entries(others)) lines.push(`${header}: ${value}`)
  const text = body === undefined ? '' : `\n${formatJson(body, '')}\n`
  return `${lines.join('\n')}\n${text}`
}

/**
 * Formats JSON with filled lines, like a paragraph. Ownership stays on one line, since it is not read line by
 * line.
 */
export function formatJson(value: unknown, indent: string, key = ''): string {
  const short = JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return short
  if (key === 'fieldsV1' || short.length + indent.length + key.length < lineWidth) return short
  const inner = `${indent} `
  if (Array.isArray(value)) {
    const items = value.map((item) => formatJson(item, inner))
    return `[\n${filled(items, inner)}\n${indent}]`
  }
  const fields = Object.entries(value).map(
    ([name, field]) => `${JSON.stringify(name)}: ${formatJson(field, inner, name)}`,
  )
  return `{\n${filled(fields, inner)}\n${indent}}`
}

function filled(items: readonly string[], indent: string): string {
  const lines: string[] = []
  let line = ''
  for (const [index, item] of items.entries()) {
    const text = index < items.length - 1 ? `${item},` : item
    const isLong = text.includes('\n') || line.includes('\n')
    if (line !== '' && (isLong || line.length + text.length >= lineWidth)) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? `${indent}${text}` : `${line} ${text}`
  }
  return [...lines, line].join('\n')
}
