/** Finds the turns of phrase that STYLE.md asks to avoid: in comments, documents, titles of tests and messages. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sourceTexts, type SourceText } from './source-texts.ts'

const root = join(import.meta.dirname, '..')

export interface EnglishSlip {
  readonly rule: SlipRule
  /** The comment, paragraph, title or message, on one line. */
  readonly text: string
  /** The line in a source on which it begins. Omitted for paragraphs of documents. */
  readonly line?: number
}

interface PlacedText {
  readonly text: string
  /** Its index in the source. */
  readonly at: number
}

export type SlipRule = keyof typeof patterns | keyof typeof textPatterns

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

/** A headless clause follows one of these; behind a noun, `who` is a relative, and behind `says` a question. */
const beforeHeadless = [
  'and or but nor of for from to by with than where while if as is are in on at that because',
  'refuses refused keeps leaves takes gives gets finds reads does has have follows loses not only',
  'all when after before whether tells told changes',
]
  .join(' ')
  .replaceAll(' ', '|')

/** These are searched in titles of tests and in messages, in addition to `patterns`. */
const textPatterns = Object.freeze({
  'text has no actor': new RegExp(
    `(?:^|[,;:.(] |\\b(?:${beforeHeadless}) )(?<!\\bfor )(?<! as )who\\b`,
    'i',
  ),
  'text has a headless what':
    /(?<!\b(?:says?|said|asks?|learns?|decides?|knows?|who does) (?:an \w+ )?)\bwhat\b(?! to\b)/i,
  'text says tells for reports':
    /\btells\b|\b(?:is|are|was|were|be) told\b|\btold (?:of|so|apart)\b/i,
  'text says none for not one': /\b(?<!there )(?:is|are) none\b(?! of\b)/,
  'text says so many': /\bso many\b/i,
  'text says without given for if omitted': /\bwithout [a-z-]+ given\b/i,
  'text says did not come by': /\bdid not come by\b/i,
})

/** The start of a sentence that upstream writes as well, so that recorded answers hold it. */
const upstreamTexts = ['unsupported scheme: ', 'Pods selected by this PodDisruptionBudget ']

/** Lists the slips of one text: each rule once. */
function englishSlips(text: string, rules: Readonly<Record<string, RegExp>>): EnglishSlip[] {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return Object.entries(rules).flatMap(([rule, pattern]) =>
    // The keys are those of the two tables.
    pattern.test(line) ? [{ rule: rule as SlipRule, text: line }] : [],
  )
}

/** Lists the slips of a file of the repository. Generated files and recorded data have none. */
export function englishSlipsIn(file: string): EnglishSlip[] {
  if (/(^|\/)(generated|testdata|golden)\//.test(file)) return []
  if (file.endsWith('.md')) {
    return paragraphsOf(read(file)).flatMap((text) => englishSlips(text, patterns))
  }
  if (!/\.tsx?$/.test(file)) return []
  const source = read(file)
  const placed = (texts: readonly PlacedText[], rules: Readonly<Record<string, RegExp>>) =>
    texts.flatMap(({ text, at }) => {
      const slips = englishSlips(text, rules)
      const line = slips.length === 0 ? 0 : source.slice(0, at).split('\n').length
      return slips.map((slip) => ({ ...slip, line }))
    })
  return [
    ...placed(commentsOf(source), patterns),
    ...placed(wordsOf(file, source), { ...patterns, ...textPatterns }),
  ]
}

const titleStart = /\b(?:test|it|describe|suite)(?:\.\w+)?\(\s*$/

/** Returns the titles of a file's tests, or the messages of product code: errors, logs, help and conditions. */
function wordsOf(file: string, source: string): PlacedText[] {
  if (file === 'dev/english-slips.ts') return []
  const isProduct =
    /^(packages|roles|cmd|console)\//.test(file) && !/\.test\.ts$|\/testing\//.test(file)
  return sourceTexts(source).filter(
    (found) => titleStart.test(found.before) || (isProduct && isMessage(found)),
  )
}

/** Texts of three words are messages, unless they are code, such as SQL, CEL or a rule of nftables. */
function isMessage({ text }: SourceText): boolean {
  if (text.split(' ').length < 3 || upstreamTexts.some((start) => text.startsWith(start)))
    return false
  // In prose a semicolon follows a word: the remedy of an error stands behind one.
  const plain = text.replaceAll(/([a-z)}"”]); (?=[a-z"“])/g, '$1, ')
  return !/[=;{}<>]\s|^\s*[.#]|\n.*\n/.test(plain)
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
function commentsOf(source: string): PlacedText[] {
  let code = source
  for (const { at, end } of sourceTexts(source)) {
    code = code.slice(0, at) + code.slice(at, end).replaceAll(/[/*]/g, '_') + code.slice(end)
  }
  const found = code.matchAll(/\/\*\*?([\s\S]*?)\*\/|((?:^[ \t]*\/\/[^\n]*\n)+)/gm)
  return Array.from(found, ({ index, 1: block, 2: lines }) => ({
    text: (block ?? lines ?? '').replaceAll(/^[ \t]*(?:\*|\/\/) ?/gm, '').trim(),
    at: index,
  })).filter(({ text }) => !/^(?:eslint|oxlint|@ts|#!)/.test(text))
}
