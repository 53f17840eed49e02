import { join } from 'node:path'
import { readFileIfPresent, secretMode, writeFileDurably } from '@skerry/bootstrap'
import { generateKeyPair, publicKeyOf } from '@skerry/pki'
import type { RoleContext } from './role-context.ts'

/**
 * The key for which an agent asks the next certificate, written before the hub is asked: a token lets one key in,
 * so whoever loses it on a full disk, or by a crash, could not come again with another. The one of the
 * certificate in use is not asked for twice. A damaged one is lost already and is replaced; where its token had let
 * it in, a person accepts the new one. Throws when it cannot be written.
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
    // Which byte is wrong helps nobody.
    return false
  }
}
