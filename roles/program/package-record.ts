import { join } from 'node:path'
import * as z from 'zod'
import { readFileIfPresent } from '@skerry/bootstrap'
import { writeFileDurably } from '../runtime/data-directory.ts'

const recordSchema = z.object({
  digest: z.string(),
  version: z.string(),
  /** The package before it, to which the machine may go back. */
  previous: z.string().optional(),
})

/** The package that was installed on this machine last. */
type Installed = z.infer<typeof recordSchema>

/** Returns the note of a machine about its package. A damaged one counts as none. */
export function packageRecord(directory: string): {
  read(): Promise<Installed | undefined>
  /** Notes a package; resolves with the digest of the one before it. */
  write(installed: Omit<Installed, 'previous'>): Promise<string | undefined>
} {
  const path = join(directory, 'installed.json')
  const read = async (): Promise<Installed | undefined> => {
    const text = await readFileIfPresent(path)
    if (text === undefined) return undefined
    return recordSchema.safeParse(parsed(text)).data
  }
  return {
    read,
    async write(installed) {
      const before = await read()
      // A package that is installed twice must not take the place of the one before it.
      const previous = before?.digest === installed.digest ? before.previous : before?.digest
      await writeFileDurably(path, `${JSON.stringify({ ...installed, previous })}\n`)
      return previous
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The schema refuses it.
    return undefined
  }
}
