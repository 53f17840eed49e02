import { isEncryptedValue, type EncryptionPlan } from '@skerry/apiserver'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { Store } from '@skerry/store'
import { controlPlaneBounds } from './limits-table.ts'

const objectsPrefix = '/registry/'
const secretsPrefix = '/registry/core/secrets/'
const { sampleMax } = controlPlaneBounds.readableSecrets

/**
 * A store needs the key that it was written with. Throws ExpectedError with the name of the file when not one
 * encrypted Secret can be read, or when the file is missing and the store has objects: a first start makes the key
 * before them.
 */
export async function requireReadable(
  store: Store,
  plan: EncryptionPlan,
  { path, isFound }: { path: string; isFound: boolean },
): Promise<void> {
  if (!isFound) await requireEmpty(store, path)
  const { entries } = await store.list({ prefix: secretsPrefix, limit: sampleMax })
  const encrypted = entries.filter(({ value }) => isEncryptedValue(value))
  const chain = plan.chainFor('core/secrets')
  const isReadable = ({ key, value }: { key: string; value: Uint8Array }): boolean => {
    try {
      chain?.open(value, key)
      return true
    } catch {
      // The error does not matter: it is another key.
      return false
    }
  }
  if (encrypted.length === 0 || encrypted.some(isReadable)) return
  throw refusal(`the Secrets in the store are not encrypted with the key in ${path}`)
}

async function requireEmpty(store: Store, path: string): Promise<void> {
  const { entries } = await store.list({ prefix: objectsPrefix, limit: 1 })
  if (entries.length > 0) throw refusal(`the Secrets in the store need ${path}, which is missing`)
}

function refusal(what: string): ExpectedError {
  return new ExpectedError(
    `Cannot start: ${what}; restore the file that belongs to this store or backup, or, if it is lost, pass --new-encryption-key, which gives up those Secrets (docs/operating.md)`,
    exitCodes.dataDirectory,
  )
}
