import { X509Certificate } from 'node:crypto'
import { ExpectedError, exitCodes } from '@skerry/base'
import { decodePem } from '@skerry/pki'
import { readFileIfPresent } from './secure-file.ts'

/**
 * Whom this machine trusts from an earlier start; undefined: nobody yet. Throws ExpectedError for a file without a
 * certificate: no peer could be checked by it.
 */
export async function readKnownAuthority(
  path: string,
  joinCommand: string,
): Promise<string | undefined> {
  const text = await readFileIfPresent(path)
  if (text === undefined || holdsCertificates(text)) return text
  throw new ExpectedError(
    `Cannot use authority ${path}: it is damaged; restore it from a backup, or remove it and pass the token and the CA hash that "${joinCommand}" prints`,
    exitCodes.dataDirectory,
  )
}

function holdsCertificates(text: string): boolean {
  const blocks = decodePem(text)
  try {
    for (const block of blocks) void new X509Certificate(block)
    return blocks.length > 0
  } catch {
    // Which byte is wrong helps nobody.
    return false
  }
}
