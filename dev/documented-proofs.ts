/** Reads the promises of the documents: a test's name in curly quotes, followed by a link to its file. */
import { dirname, join } from 'node:path'

export interface DocumentedProof {
  /** The document that makes the promise, relative to the repository. */
  readonly document: string
  /** The test's name, or the part of it that the document quotes. */
  readonly name: string
  /** The file of the test, relative to the repository. */
  readonly file: string
}

const proofs = /((?:“[^”]+”(?:,? and|,)? )+)\(\[[^\]]+\]\(([^)]+)\)\)/g

/** Lists the proofs of one document in the order in which it names them. */
export function documentedProofs(document: string, markdown: string): DocumentedProof[] {
  return [...oneLine(markdown).matchAll(proofs)].flatMap(([, names = '', target = '']) =>
    [...names.matchAll(/“([^”]+)”/g)].map(([, name = '']) => ({
      document,
      name,
      file: join(dirname(document), target),
    })),
  )
}

/**
 * Lists quoted titles before a test's link, or before a title that precedes one, in a form that
 * documentedProofs does not read, such as `(“title”, [file](path))` and `“title” or “title” ([file](path))`.
 */
export function unreadProofs(markdown: string): string[] {
  const rest = oneLine(markdown).replaceAll(proofs, '([test](read.test.ts))')
  const beside = /“([^”]+)”(?=(?:(?!\. )[^“|]){0,100}\]\([^)]*\.test\.ts\))/g
  return [...rest.matchAll(beside)].map(([, title = '']) => title)
}

function oneLine(markdown: string): string {
  return markdown.replaceAll(/\s+/g, ' ')
}
