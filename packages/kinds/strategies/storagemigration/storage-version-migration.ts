import {
  checkDns1035Label,
  checkDnsSubdomain,
  fieldInvalid,
  fieldRequired,
  type StatusCause,
  type StorageVersionMigration,
} from '@skerry/api'
import { checkUnchanged, immutableText, type Found } from '../checks.ts'
import { checkConditions, shownConditions } from '../conditions.ts'
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
  validateStatusUpdate: validateProgress,
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

function validateProgress(
  { status = {} }: LooseObject<StorageVersionMigration>,
  { status: old = {} }: LooseObject<StorageVersionMigration>,
): StatusCause[] {
  const found: Found = []
  const { conditions = [], resourceVersion = '' } = status
  const path = 'status.conditions'
  checkResourceVersion(resourceVersion, found)
  checkConditions(conditions, path, found)
  if (old.resourceVersion && old.resourceVersion !== resourceVersion) {
    found.push(fieldInvalid('status.resourceVersion', resourceVersion, immutableText))
  }
  const has = (type: string, of: typeof status): boolean =>
    (of.conditions ?? []).some((one) => one.type === type && one.status === 'True')
  if (has('Succeeded', status) && has('Failed', status)) {
    const detail = 'Both success and failed conditions cannot be true at the same time'
    found.push(fieldInvalid(path, shownConditions(conditions), detail))
  }
  for (const [type, word] of endings) {
    if (!has(type, old) || has(type, status)) continue
    const detail = `${word} condition cannot be set to false once it is true`
    found.push(fieldInvalid(path, shownConditions(conditions), detail))
  }
  return found
}

const endings = [
  ['Succeeded', 'Success'],
  ['Failed', 'Failed'],
] as const

function checkResourceVersion(version: string, found: Found): void {
  if (version === '' || /^[1-9]\d*$/.test(version)) return
  const detail = `resource version is not well formed: ${version}`
  found.push(fieldInvalid('status.resourceVersion', version, detail))
}

function addJoined(value: string, faults: readonly string[], field: string, found: Found): void {
  if (faults.length > 0) found.push(fieldInvalid(field, value, faults.join(',')))
}
