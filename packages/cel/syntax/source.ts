import { CelCompileError, type CelIssue } from '../language/cel-errors.ts'
import { celBounds } from '../limits-table.ts'

export interface Problem {
  /** The offset in the text. */
  readonly at: number
  readonly message: string
}

const { issuesMax, snippetMax } = celBounds.source

/** Returns the error for all problems of a text, each with its line and a mark. */
export function compileError(text: string, problems: readonly Problem[]): CelCompileError {
  const lines = text.split('\n')
  const issues = problems
    .map((problem) => locate(text, problem))
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
  const shown = issues.slice(0, issuesMax).map((issue) => show(issue, lines))
  if (issues.length > issuesMax) {
    shown.push(`${issues.length - issuesMax} more errors were truncated`)
  }
  return new CelCompileError(shown.join('\n'), issues)
}

function locate(text: string, { at, message }: Problem): CelIssue {
  const before = text.slice(0, Math.max(at, 0))
  const lineStart = before.lastIndexOf('\n') + 1
  const line = before.split('\n').length
  return { line, column: Array.from(before.slice(lineStart)).length, message }
}

function show({ line, column, message }: CelIssue, lines: readonly string[]): string {
  const head = `ERROR: <input>:${line}:${column + 1}: ${message}`
  const source = (lines[line - 1] ?? '').replaceAll('\t', ' ')
  // An empty text has no place to show.
  if (source === '' && lines.length === 1) return `ERROR: <input>:1:0: ${message}`
  const characters = Array.from(source)
  if (characters.length > snippetMax) return head
  const marks = characters.slice(0, column).map((character) => (isWide(character) ? '．' : '.'))
  const at = characters[column]
  return `${head}\n | ${source}\n | ${marks.join('')}${at !== undefined && isWide(at) ? '＾' : '^'}`
}

function isWide(character: string): boolean {
  return (character.codePointAt(0) ?? 0) > 0x7f
}
