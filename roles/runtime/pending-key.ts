import { join } from 'node:path'
import { readFileIfPresent, secretMode, writeFileDurably } from '@skerry/bootstrap'
import { generateKeyPair, publicKeyOf } from '@skerry/pki'
import type { RoleContext } from './role-context.ts'

/**
 * Returns the key for an agent's next certificate, which is stored before the hub is asked: a token admits
 * one key, so an agent that lost it on a full disk, or in a crash, could not return with another. The key of
 * the present certificate is not used twice. A damaged key is already lost and is replaced; if its token had
 * been used, a person accepts the new one. Throws if it cannot be written.
 */
export async function pendingKey(
  directory: string,
  inUse: string | undefined,
  { log }: RoleContext,
): Promise<string> {
  const path = join(directory, 'agent-next.key')
  const known = await readFileIfPresent(path)
  if (known !== undefined && isPrivateKey(known)) {
    if (known !== inUse) return known
  } else if (known !== undefined) {
    log.info('Pending key is damaged, making another', { path })
  }
  const { privateKeyPem } = await generateKeyPair()
  try {
    await writeFileDurably(path, privateKeyPem, secretMode)
  } catch (cause) {
    const isFull = cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC'
    if (!isFull) throw cause
    throw new Error(`Cannot write ${path}: the disk is full; free some space`, { cause })
  }
  return privateKeyPem
}

function isPrivateKey(text: string): boolean {
  try {
    publicKeyOf(text)
    return true
  } catch {
    // The position of the wrong byte is of no use.
    return false
  }
}
