import { writeFile } from 'node:fs/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { createOperatorKey } from '@skerry/offline-package'
import { codeOf } from '../runtime/data-directory.ts'

/** Makes a pair of keys as <path>.key, which only this user can read, and <path>.pub. Neither may exist. */
export async function writeOperatorKey(path: string): Promise<readonly [string, string]> {
  const { privateKey, publicKey } = createOperatorKey()
  const files = [
    { name: `${path}.key`, text: privateKey, mode: 0o600 },
    { name: `${path}.pub`, text: publicKey, mode: 0o644 },
  ] as const
  for (const { name, text, mode } of files) {
    await writeFile(name, text, { mode, flag: 'wx' }).catch((error: unknown) => {
      const why =
        codeOf(error) === 'EEXIST'
          ? 'it exists, and packages may be signed with it; choose another --output'
          : 'the directory does not exist, or may not be written to'
      const message = `Cannot write key ${name}: ${why}`
      throw new ExpectedError(message, exitCodes.usage, { cause: error })
    })
  }
  return [files[0].name, files[1].name]
}
