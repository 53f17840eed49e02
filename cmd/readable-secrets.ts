import { isEncryptedValue, type EncryptionPlan } from '@skerry/apiserver'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { Store } from '@skerry/store'

const secretsPrefix = '/registry/core/secrets/'
/** A key that opens none of so many Secrets is another store's key. */
const sampleMax = 100

/**
 * A store that came from a backup needs the key that it was written with. Throws ExpectedError with
 * the name of the file when not one encrypted Secret can be read.
 */
export async function requireReadable(
  store: Store,
  plan: EncryptionPlan,
  { path, isFound }: { path: string; isFound: boolean },
): Promise<void> {
  const { entries } = await store.list({ prefix: secretsPrefix, limit: sampleMax })
  const encrypted = entries.filter(({ value }) => isEncryptedValue(value))
  const chain = plan.chainFor('core/secrets')
  const isReadable = ({ key, value }: { key: string; value: Uint8Array }): boolean => {
    try {
      chain?.open(value, key)
      return true
    } catch {
      // Why is of no interest: it is another key.
      return false
    }
  }
  if (encrypted.length === 0 || encrypted.some(isReadable)) return
  const what = isFound
    ? `are not encrypted with the key in ${path}`
    : `need ${path}, which is missing`
  throw new ExpectedError(
    `Cannot start: the Secrets in the store ${what}; put the file there that belongs to this store or backup`,
    exitCodes.dataDirectory,
  )
}
