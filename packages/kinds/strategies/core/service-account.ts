import type { ServiceAccount } from '@skerry/api'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

const mountableSecretsKey = 'kubernetes.io/enforce-mountable-secrets'

export const serviceAccountStrategy = strategyOf<ServiceAccount>({
  warnings({ metadata: { annotations = {} } }, old) {
    const wasSet = mountableSecretsKey in (old?.metadata.annotations ?? {})
    if (wasSet || !(mountableSecretsKey in annotations)) return []
    const instead = 'prefer separate namespaces to isolate access to mounted secrets'
    return [`metadata.annotations[${mountableSecretsKey}]: deprecated in v1.32+; ${instead}`]
  },
  hasGeneration: false,
  prepareForCreate: keepOnlySecretNames,
  prepareForUpdate: keepOnlySecretNames,
})

function keepOnlySecretNames(account: LooseObject<ServiceAccount>): void {
  if (!account.secrets) return
  account.secrets = account.secrets.map(({ name }) => (name ? { name } : {}))
}
