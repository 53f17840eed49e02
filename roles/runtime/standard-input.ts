/** Reads what a person or a program gives a command on standard input. */
import { createInterface } from 'node:readline/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { runtimeBounds } from './limits-table.ts'

/** Reads the whole input. Rejects with an ExpectedError if it is longer than a file of credentials. */
export async function readStandardInput(): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of process.stdin) {
    const read = Buffer.from(part)
    bytes += read.length
    if (bytes > runtimeBounds.standardInput.bytesMax) {
      throw new ExpectedError('Cannot read standard input: it is too long', exitCodes.usage)
    }
    parts.push(read)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Asks the person at the terminal. Everything but y and yes means no. */
export async function askYesOrNo(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    const text = 'Cannot ask: standard input is not a terminal; confirm with --yes'
    throw new ExpectedError(text, exitCodes.usage)
  }
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await lines.question(`${question} [y/N] `)
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
