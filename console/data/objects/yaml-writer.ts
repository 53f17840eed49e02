/** Writes JSON values as YAML for people: block style, with quotes only where a reader of YAML 1.1 or 1.2 needs them. Pure. */
import { escapeReordering } from '../browser/reordering-marks.ts'

export function writeYaml(value: unknown): string {
  return `${isBlock(value) ? blockOf(value, 0) : `${scalarOf(value, 0)}\n`}`
}

type Block = Readonly<Record<string, unknown>> | readonly unknown[]

/** Reports whether a value stands on lines of its own; an empty map or list does not. */
function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function blockOf(value: Block, depth: number): string {
  const indent = '  '.repeat(depth)
  if (Array.isArray(value)) {
    return value.map((item) => `${indent}- ${itemOf(item, depth)}`).join('')
  }
  return Object.entries(value)
    .map(([key, member]) => `${indent}${plainOrQuoted(key)}:${memberOf(member, depth)}`)
    .join('')
}

/** The first line of an item stands behind its dash. */
function itemOf(item: unknown, depth: number): string {
  if (!isBlock(item)) return `${scalarOf(item, depth + 1)}\n`
  return blockOf(item, depth + 1).slice(2 * (depth + 1))
}

/** Items of a list stand as deep as their key, which is how Kubernetes' documents are written. */
function memberOf(member: unknown, depth: number): string {
  if (!isBlock(member)) return ` ${scalarOf(member, depth + 1)}\n`
  return `\n${blockOf(member, Array.isArray(member) ? depth : depth + 1)}`
}

function scalarOf(value: unknown, depth: number): string {
  if (typeof value === 'string') return textOf(value, depth)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[]' : '{}'
  return JSON.stringify(value) ?? 'null'
}

function textOf(text: string, depth: number): string {
  const lines = text.split('\n')
  const hasLines = lines.length > 1 && lines.some((line) => line !== '')
  return hasLines && isLiteral(lines) ? literalOf(lines, depth) : plainOrQuoted(text)
}

/** A literal block keeps every line as it is, so that it may not hold what an editor would lose or a reader refuse. */
function isLiteral(lines: readonly string[]): boolean {
  // oxlint-disable-next-line no-control-regex
  const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]|\t$| $/
  return lines[0] !== '' && !/^\s/.test(lines[0] ?? '') && !lines.some((line) => unsafe.test(line))
}

function literalOf(lines: readonly string[], depth: number): string {
  const last = lines.findLastIndex((line) => line !== '')
  const ends = lines.length - 1 - last
  const chomping = ends === 0 ? '-' : ends === 1 ? '' : '+'
  const body = lines.slice(0, Math.max(last + 1, lines.length - 1))
  const indent = '  '.repeat(Math.max(1, depth))
  return `|${chomping}\n${body.map((line) => (line === '' ? '' : `${indent}${line}`)).join('\n')}`
}

/** Letters, digits and few signs: nothing in it means anything to YAML. */
const plain = /^[A-Za-z_/][\w./()@%+,<>= -]*(?::[\w./-]+)*[\w./()@%>=-]?$/

/** Words that are not texts to a reader of YAML 1.1 or 1.2, and `=`, `<`, which 1.1 gives a meaning. */
const word = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i

function plainOrQuoted(text: string): string {
  const isPlain =
    plain.test(text) && !word.test(text) && !text.endsWith(' ') && !text.includes(' #')
  return isPlain ? text : escapeReordering(JSON.stringify(text))
}
