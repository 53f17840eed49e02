import type { StorageVersionMigration } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'

export const storageVersionMigrationStrategy = strategyOf<StorageVersionMigration>({
  ...statusApart,
  hasGeneration: false,
  allowUnconditionalUpdate: false,
  defaults(migration) {
    migration.status ??= {}
  },
})
