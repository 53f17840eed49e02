import { noAnswer } from '../hub/hub-error.ts'
import { cutLines } from './log-tail.ts'

export interface LineReader {
  readonly onLine: (line: string) => void
  /** Is called after the lines that came together. */
  readonly onChange: () => void
  /** A longer line comes in pieces. If omitted, as long as a line of a log may be. */
  readonly charsMax?: number
}

/** Reads the lines of an answer as they come. Rejects with a HubError if it breaks off. */
export async function readLines(
  answer: Response,
  { onLine, onChange, charsMax }: LineReader,
): Promise<void> {
  const { body } = answer
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw noAnswer(error)
    })
    if (done) break
    const cut = cutLines(rest, value, charsMax)
    rest = cut.rest
    for (const line of cut.lines) onLine(line)
    onChange()
  }
  if (rest !== '') onLine(rest)
  onChange()
}
