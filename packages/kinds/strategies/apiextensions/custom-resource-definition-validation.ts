import {
  checkDns1035Label,
  checkDnsSubdomain,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  type CustomResourceConversion,
  type CustomResourceDefinition,
  type CustomResourceDefinitionNames,
  type CustomResourceDefinitionSpec,
  type CustomResourceDefinitionVersion,
  type StatusCause,
} from '@skerry/api'
import { checkRequiredOneOf, checkUnchanged, isSame, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkWebhookClient } from '../webhook-client-checks.ts'
import { checkConversionVersions } from './conversion-versions.ts'
import { deprecationWarningFaults } from './deprecation-warning.ts'
import { checkSchema } from './schema-validation.ts'
import { checkColumns, checkSubresources } from './version-features-validation.ts'

type Definition = LooseObject<CustomResourceDefinition>

export function validateDefinition(definition: Definition): StatusCause[] {
  const found: Found = []
  checkName(definition, found)
  checkSpec(definition, found)
  checkStoredVersions(definition, found)
  checkApproval(definition, found)
  if (definition.spec?.preserveUnknownFields === true) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
    found.push(fieldInvalid('spec.preserveUnknownFields', true, detail))
  }
  return found
}

function checkName(definition: Definition, found: Found): void {
  const { names = {}, group = '' } = definition.spec ?? {}
  const { name = '' } = definition.metadata
  // A missing name is reported alone.
  if (name === '' || name === `${names.plural ?? ''}.${group}`) return
  found.push(fieldInvalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group'))
}

function checkSpec(definition: Definition, found: Found): void {
  const { spec = {} } = definition
  checkGroup(spec.group ?? '', found)
  checkRequiredOneOf(spec.scope, ['Cluster', 'Namespaced'], 'spec.scope', found)
  const versions = spec.versions ?? []
  for (const [at, version] of versions.entries()) {
    if (version.schema?.openAPIV3Schema) continue
    found.push(fieldRequired(`spec.versions[${at}].schema.openAPIV3Schema`))
  }
  const shared = sharedFeatures(versions)
  for (const [at, version] of versions.entries()) {
    const path = `spec.versions[${at}]`
    checkVersionName(version, path, found)
    checkFeatures(version, ownPlaces(path, shared), found)
  }
  checkVersionsTogether(versions, found)
  const { names = {} } = spec
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[name]) found.push(fieldRequired(`spec.names.${name}`))
  }
  checkNames(names, 'spec.names', found)
  checkFeatures(versions[0] ?? {}, sharedPlaces(shared), found)
  if (spec.conversion) checkConversion(spec.conversion, 'spec.conversion', found)
}

function checkGroup(group: string, found: Found): void {
  const texts = checkDnsSubdomain(group)
  if (!group) found.push(fieldRequired('spec.group'))
  else if (texts.length > 0) found.push(fieldInvalid('spec.group', group, texts.join(',')))
  else if (!group.includes('.')) {
    found.push(fieldInvalid('spec.group', group, 'should be a domain with at least one dot'))
  }
}

/** The paths at which a version's features are reported. If undefined, a feature is reported elsewhere. */
interface Places {
  readonly schema?: string | undefined
  readonly subresources?: string | undefined
  readonly columns?: string | undefined
}

interface SharedFeatures {
  readonly schema: boolean
  readonly subresources: boolean
  readonly columns: boolean
}

/** Upstream treats what all versions have in common as declared once, at the top of the spec. */
function sharedFeatures(versions: Versions): SharedFeatures {
  const [first] = versions
  const isShared = (field: 'schema' | 'subresources' | 'additionalPrinterColumns'): boolean =>
    versions.every((version) => isSame(version[field], first?.[field]))
  return {
    schema: isShared('schema'),
    subresources: isShared('subresources'),
    columns: isShared('additionalPrinterColumns'),
  }
}

function ownPlaces(path: string, shared: SharedFeatures): Places {
  return {
    schema: shared.schema ? undefined : `${path}.schema.openAPIV3Schema`,
    subresources: shared.subresources ? undefined : `${path}.subresources`,
    columns: shared.columns ? undefined : `${path}.additionalPrinterColumns`,
  }
}

function sharedPlaces(shared: SharedFeatures): Places {
  return {
    schema: shared.schema ? 'spec.validation.openAPIV3Schema' : undefined,
    subresources: shared.subresources ? 'spec.subresources' : undefined,
    columns: shared.columns ? 'spec.additionalPrinterColumns' : undefined,
  }
}

function checkFeatures(
  version: Loose<CustomResourceDefinitionVersion>,
  places: Places,
  found: Found,
): void {
  const schema = version.schema?.openAPIV3Schema
  if (places.schema && schema) checkSchema(schema, places.schema, found)
  if (places.subresources) checkSubresources(version.subresources, places.subresources, found)
  if (places.columns) checkColumns(version.additionalPrinterColumns ?? [], places.columns, found)
}

function checkVersionName(
  version: Loose<CustomResourceDefinitionVersion>,
  path: string,
  found: Found,
): void {
  const { name = '', deprecated, deprecationWarning: warning } = version
  const texts = checkDns1035Label(name)
  if (texts.length > 0) found.push(fieldInvalid(`${path}.name`, name, texts.join(',')))
  if (warning !== undefined) {
    const faults = deprecationWarningFaults(deprecated === true, warning)
    for (const fault of faults) {
      found.push(fieldInvalid(`${path}.deprecationWarning`, warning, fault))
    }
  }
}

type Versions = NonNullable<Loose<CustomResourceDefinitionSpec>['versions']>

/** Upstream prints the whole list in its internal form here; the names are sufficient. */
function checkVersionsTogether(versions: Versions, found: Found): void {
  const names = versions.map(({ name = '' }) => name)
  if (new Set(names).size !== names.length) {
    found.push(fieldInvalid('spec.versions', names, 'must contain unique version names'))
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version'
    found.push(fieldInvalid('spec.versions', names, detail))
  }
  // The first version is also upstream's old spec.version, and is checked again as that.
  const [first = ''] = names
  const texts = first ? checkDns1035Label(first) : []
  if (texts.length > 0) found.push(fieldInvalid('spec.version', first, texts.join(',')))
}

function checkNames(names: Loose<CustomResourceDefinitionNames>, path: string, found: Found): void {
  for (const key of ['plural', 'singular'] as const) {
    checkLabel(names[key] ?? '', `${path}.${key}`, found)
  }
  for (const key of ['kind', 'listKind'] as const) {
    const value = names[key] ?? ''
    const texts = value ? checkDns1035Label(value.toLowerCase()) : []
    if (texts.length === 0) continue
    const detail = `may have mixed case, but should otherwise match: ${texts.join(',')}`
    found.push(fieldInvalid(`${path}.${key}`, value, detail))
  }
  for (const [at, name] of (names.shortNames ?? []).entries()) {
    checkLabel(name, `${path}.shortNames[${at}]`, found)
  }
  if (names.kind && names.kind === names.listKind) {
    const detail = 'kind and listKind may not be the same'
    found.push(fieldInvalid(`${path}.listKind`, names.listKind, detail))
  }
  for (const [at, name] of (names.categories ?? []).entries()) {
    checkLabel(name, `${path}.categories[${at}]`, found)
  }
}

function checkLabel(value: string, field: string, found: Found): void {
  const texts = value ? checkDns1035Label(value) : []
  if (texts.length > 0) found.push(fieldInvalid(field, value, texts.join(',')))
}

function checkConversion(
  conversion: Loose<CustomResourceConversion>,
  path: string,
  found: Found,
): void {
  const { strategy, webhook } = conversion
  checkRequiredOneOf(strategy, ['None', 'Webhook'], `${path}.strategy`, found)
  const field = `${path}.webhookClientConfig`
  if (strategy === 'Webhook') {
    if (webhook?.clientConfig) checkWebhookClient(webhook.clientConfig, field, found)
    else found.push(fieldRequired(field, 'required when strategy is set to Webhook'))
    const versions = webhook?.conversionReviewVersions ?? []
    checkConversionVersions(versions, `${path}.conversionReviewVersions`, found)
  } else if (webhook) {
    const detail = 'should not be set when strategy is not set to Webhook'
    if (webhook.clientConfig) found.push(fieldForbidden(field, detail))
    if ((webhook.conversionReviewVersions ?? []).length === 0) return
    found.push(fieldForbidden(`${path}.conversionReviewVersions`, detail))
  }
}

function checkStoredVersions(definition: Definition, found: Found): void {
  const field = 'status.storedVersions'
  const stored = definition.status?.storedVersions ?? []
  const versions = definition.spec?.versions ?? []
  if (stored.length === 0) {
    found.push(fieldInvalid(field, stored, 'must have at least one stored version'))
    return
  }
  for (const { name = '', storage } of versions) {
    if (!storage || stored.includes(name)) continue
    found.push(fieldInvalid(field, stored, `must have the storage version ${name}`))
  }
  for (const [at, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
    found.push(fieldInvalid(`${field}[${at}]`, name, detail))
  }
}

const approvalKey = 'api-approved.kubernetes.io'

/** Groups of the Kubernetes community are reserved, so that other CRDs do not collide with theirs. */
function checkApproval(definition: Definition, found: Found): void {
  const { group = '' } = definition.spec ?? {}
  const isReserved = /(^|\.)(k8s|kubernetes)\.io$/.test(group)
  const approval = definition.metadata.annotations?.[approvalKey]
  if (!isReserved) return
  const field = `metadata.annotations[${approvalKey}]`
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111'
  if (approval === undefined) {
    const detail = `protected groups must have approval annotation "${approvalKey}", ${see}`
    found.push(fieldRequired(field, detail))
  } else if (!approval.startsWith('unapproved') && !/^https?:\/\/[^/]+\//.test(approval)) {
    const detail = `protected groups must have approval annotation "${approvalKey}" with either a URL or a reason starting with "unapproved", ${see}`
    found.push(fieldInvalid(field, approval, detail))
  }
}

export function validateDefinitionUpdate(next: Definition, old: Definition): StatusCause[] {
  const found: Found = []
  const { spec = {} } = next
  const before = old.spec ?? {}
  checkSpec(next, found)
  const isEstablished = (old.status?.conditions ?? []).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  )
  if (isEstablished) {
    checkUnchanged(spec.scope, before.scope, 'spec.scope', found)
    checkUnchanged(spec.names?.kind, before.names?.kind, 'spec.names.kind', found)
  }
  checkUnchanged(spec.group, before.group, 'spec.group', found)
  checkUnchanged(spec.names?.plural, before.names?.plural, 'spec.names.plural', found)
  checkStoredVersions(next, found)
  if (!isSame(next.metadata.annotations, old.metadata.annotations)) checkApproval(next, found)
  return found
}
