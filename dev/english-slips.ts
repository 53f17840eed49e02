/** Finds the turns of phrase that STYLE.md asks to avoid, in comments and in documents. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

export interface EnglishSlip {
  readonly rule: SlipRule
  /** The comment or paragraph, on one line. */
  readonly text: string
}

export type SlipRule = keyof typeof patterns

const patterns = Object.freeze({
  /** A sentence has a subject and a verb, or is an imperative. */
  'starts without a subject': /(?:^|[.:;] )(?:Of|As|By|To|But for|Also)\b/,
  /** The actor is named. */
  'has no actor': /(?:^|[.;] )(?:What|Who|Whose|Whom|Whoever|Which)\b(?![^.]*\?)/,
  'says absent for omitted': /\b(?:absent|undefined|empty|none): /i,
  'says is no for is not a': /(?<!\bthere )\b(?:is|are|was|were) no (?!longer|more|one)[a-z]+/i,
  'says anew for again': /\banew\b/,
  'says beside for in addition to': /\bbeside\b/,
  'says by for over': /\bby (?:HTTP|WebSocket|SPDY|TLS|TCP|UDP|gRPC)\b/,
  'says whoever': /\bwho(?:m)?ever\b/,
})

/** Lists the slips of one text: each rule once. */
function englishSlips(text: string): EnglishSlip[] {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return Object.entries(patterns).flatMap(([rule, pattern]) =>
    // The keys are those of the table.
    pattern.test(line) ? [{ rule: rule as SlipRule, text: line }] : [],
  )
}

/** Lists the slips of a file of the repository. Generated files and recorded data have none. */
export function englishSlipsIn(file: string): EnglishSlip[] {
  if (/(^|\/)(generated|testdata|golden)\//.test(file)) return []
  if (/\.tsx?$/.test(file)) return commentsOf(read(file)).flatMap(englishSlips)
  return file.endsWith('.md') ? paragraphsOf(read(file)).flatMap(englishSlips) : []
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** Returns the prose: without quoted titles of tests, code and tables. */
function paragraphsOf(markdown: string): string[] {
  const prose = markdown
    .replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '')
    .replaceAll(/“[^”]*”/g, '“”')
    .replaceAll(/`[^`\n]*`/g, '``')
    .replaceAll(/^\|.*$/gm, '')
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((text) => text.replace(/^\s*(?:[-*]|\d+\.) /, ''))
}

/**
 * Returns the comments of a source: each block, or group of consecutive line comments, as one text without
 * its marks.
 */
function commentsOf(source: string): string[] {
  const found = source.matchAll(/\/\*\*?([\s\S]*?)\*\/|((?:^[ \t]*\/\/[^\n]*\n)+)/gm)
  return Array.from(found, ([, block, lines]) =>
    (block ?? lines ?? '').replaceAll(/^[ \t]*(?:\*|\/\/) ?/gm, '').trim(),
  ).filter((text) => !/^(?:eslint|oxlint|@ts|#!)/.test(text))
}
