import { neighbourBounds } from './limits-table.ts'

/** The result of one node's questions to its neighbours. */
export interface Word {
  /** The neighbours that answered. */
  readonly seen: readonly string[]
  /** The neighbours that left several questions in a row without an answer. */
  readonly missed: readonly string[]
}

/** A node's answer to a neighbour. */
export interface Answer {
  readonly word: Word
  /**
   * The nodes of which some voter has told this node that it misses them. They are hints to ask the voters; nobody
   * counts them as votes.
   */
  readonly doubted: readonly string[]
}

/** The annotation of a node's Lease with its word. Only that node may write its Lease. */
export const wordAnnotation = 'node.skerry.io/neighbours'

const { namesMax, charactersMax } = neighbourBounds.word

export function wordText({ seen, missed }: Word): string {
  return JSON.stringify({ seen, missed })
}

/** Returns undefined for a text that is not a word, or too long. */
export function parseWord(text: string | undefined): Word | undefined {
  const parsed = parseObject(text)
  return parsed && wordIn(parsed)
}

export function answerText({ word, doubted }: Answer): string {
  return JSON.stringify({ ...word, doubted })
}

/** Returns undefined for a text that is not an answer, or too long. */
export function parseAnswer(text: string): Answer | undefined {
  const parsed = parseObject(text)
  const word = parsed && wordIn(parsed)
  const doubted = namesIn(parsed?.['doubted'])
  return word && doubted && { word, doubted }
}

function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined || text.length > charactersMax) return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null) return undefined
    return { ...parsed }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function wordIn(parsed: Record<string, unknown>): Word | undefined {
  const seen = namesIn(parsed['seen'])
  const missed = namesIn(parsed['missed'])
  return seen && missed && { seen, missed }
}

function namesIn(value: unknown): string[] | undefined {
  if (!Array.isArray(value) || value.length > namesMax) return undefined
  const names = value.filter((each) => typeof each === 'string')
  return names.length === value.length ? names : undefined
}
