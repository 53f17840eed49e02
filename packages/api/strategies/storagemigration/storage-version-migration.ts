import type { StorageVersionMigration } from '../../generated/types.ts'
import { fieldInvalid, fieldRequired } from '../../field-error.ts'
import { checkDns1035Label, checkDnsSubdomain } from '../../names.ts'
import type { StatusCause } from '../../status-error.ts'
import { checkUnchanged, type Found } from '../checks.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

export const storageVersionMigrationStrategy = strategyOf<StorageVersionMigration>({
  ...statusApart,
  hasGeneration: false,
  allowUnconditionalUpdate: false,
  defaults(migration) {
    migration.status ??= {}
  },
  validate: validateMigration,
  validateUpdate(next, old) {
    const found = validateMigration(next)
    checkUnchanged(next.spec, old.spec, 'spec', found)
    return found
  },
})

function validateMigration({ spec }: LooseObject<StorageVersionMigration>): StatusCause[] {
  const found: Found = []
  const { group = '', resource = '' } = spec?.resource ?? {}
  const path = 'spec.resource'
  if (!resource) found.push(fieldRequired(`${path}.resource`, 'resource is required to be set'))
  else addJoined(resource, checkDns1035Label(resource), `${path}.resource`, found)
  if (group) addJoined(group, checkDnsSubdomain(group), `${path}.group`, found)
  return found
}

function addJoined(value: string, faults: readonly string[], field: string, found: Found): void {
  if (faults.length > 0) found.push(fieldInvalid(field, value, faults.join(',')))
}
