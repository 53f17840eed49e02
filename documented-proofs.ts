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

/** Lists the proofs of one document in the order in which it names them. */
export function documentedProofs(document: string, markdown: string): DocumentedProof[] {
  const text = markdown.replaceAll(/\s+/g, ' ')
  const groups = text.matchAll(/((?:“[^”]+”(?:,? and|,)? )+)\(\[[^\]]+\]\(([^)]+)\)\)/g)
  return [...groups].flatMap(([, names = '', target = '']) =>
    [...names.matchAll(/“([^”]+)”/g)].map(([, name = '']) => ({
      document,
      name,
      file: join(dirname(document), target),
    })),
  )
}
