import type { ServiceAccount } from '../../generated/types.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

export const serviceAccountStrategy = strategyOf<ServiceAccount>({
  hasGeneration: false,
  prepareForCreate: keepOnlySecretNames,
  prepareForUpdate: keepOnlySecretNames,
})

function keepOnlySecretNames(account: LooseObject<ServiceAccount>): void {
  if (!account.secrets) return
  account.secrets = account.secrets.map(({ name }) => (name ? { name } : {}))
}
