import type { Secret } from '@skerry/api'
import { encodeBase64 } from '../base64.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { validateSecret, validateSecretUpdate } from './secret-validation.ts'

export const secretStrategy = strategyOf<Secret>({
  validate: validateSecret,
  validateUpdate: validateSecretUpdate,
  hasGeneration: false,
  defaults: applySecretDefaults,
  prepareForUpdate(next, old) {
    next.type ||= old.type ?? 'Opaque'
  },
})

function applySecretDefaults(secret: LooseObject<Secret>): void {
  secret.type ||= 'Opaque'
  for (const [key, text] of Object.entries(secret.stringData ?? {})) {
    secret.data ??= {}
    secret.data[key] = encodeBase64(text)
  }
  delete secret.stringData
}
