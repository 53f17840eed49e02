import { X509Certificate } from 'node:crypto'
import { ExpectedError, exitCodes } from '@skerry/base'
import { decodePem } from '@skerry/pki'
import { readFileIfPresent } from './secure-file.ts'

/**
 * Returns the authority that this machine trusts from an earlier start, or undefined if there is
 * none yet. Throws ExpectedError for a file without a certificate, because it could not verify any
 * peer.
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
    // The position of the wrong byte would not help.
    return false
  }
}
